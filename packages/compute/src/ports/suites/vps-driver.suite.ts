import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type NetworkPolicy, openPolicy } from '../network-policy.ts'
import type { DriverError, DriverErrorCode, VpsDriver, VpsObservation, VpsSpec } from '../vps-driver.ts'

/** The subject of the suite: an implementation of the port, and ways to see what it does. */
export interface DriverUnderTest {
  driver: VpsDriver
  /** A spec of a new machine that the driver can make. With an inside, its user data is `countingUserData`. */
  newSpec(): Promise<VpsSpec>
  /** Lets a little time pass while something is waited for. */
  pause(): Promise<void>
  /** Ends the machine's process, as a crash of the host would. */
  crash(id: string): Promise<void>
  /** Whatever there is of the machine: its processes, files, ports. */
  traces(id: string): Promise<string[]>
  /** Runs a command inside by real ssh, with the host verified; for drivers that have an inside. */
  inside?(spec: VpsSpec, command: string): Promise<string>
  close?(): Promise<void>
}

/** Tells by the length of a file how often it was run, and closes SSH to passwords. */
export const countingUserData =
  '#cloud-config\nssh_pwauth: false\nruncmd:\n  - printf x >>/root/user-data-runs\n'

/** Longer than any boot takes on a busy machine with emulation. */
const BOOT_TIMEOUT_MS = 8 * 60_000

/**
 * The duties of every driver. The tests are one life of one machine, in order: real boots are expensive, so each one
 * serves many checks.
 */
export function vpsDriverSuite(name: string, make: () => Promise<DriverUnderTest>): void {
  describe(`${name}: the VPS driver port`, { timeout: BOOT_TIMEOUT_MS }, () => {
    let subject: DriverUnderTest
    let driver: VpsDriver
    let spec: VpsSpec

    beforeAll(async () => {
      subject = await make()
      driver = subject.driver
      spec = await subject.newSpec()
    }, BOOT_TIMEOUT_MS)

    afterAll(async () => {
      if (spec) await driver.destroy(spec.id)
      await subject?.close?.()
    })

    const until = async (wanted: (seen: VpsObservation) => boolean) => {
      for (;;) {
        await driver.ensure(spec)
        const seen = await driver.observe(spec.id)
        if (wanted(seen)) return seen
        await subject.pause()
      }
    }
    const untilReady = () => until(({ sshReady }) => sshReady)
    const inside = async (command: string) => (await subject.inside?.(spec, command))?.trim()
    const codeOf = (call: Promise<unknown>): Promise<DriverErrorCode | 'none'> =>
      call.then(
        () => 'none' as const,
        (error: DriverError) => error.code,
      )

    test('behavior: an unknown machine is absent, and its destruction is done', async () => {
      expect(await driver.observe(spec.id)).toEqual({ state: 'absent', sshReady: false })
      await driver.destroy(spec.id)
      expect((await driver.inventory()).machines).not.toContain(spec.id)
    })

    test('error: an unknown machine has no power button', async () => {
      expect(await codeOf(driver.power(spec.id, 'start'))).toBe('machine_unknown')
      expect(await codeOf(driver.power('../../etc', 'start'))).toBe('machine_unknown')
    })

    test('error: an unknown machine has no network', async () => {
      expect(await codeOf(driver.applyNetwork(spec.id, openPolicy))).toBe('machine_unknown')
      expect(await codeOf(driver.applyNetwork('../../etc', openPolicy))).toBe('machine_unknown')
    })

    test('error: an unknown image makes no machine', async () => {
      expect(await codeOf(driver.ensure({ ...spec, image: 'plan-9' }))).toBe('image_unknown')
      expect(await driver.observe(spec.id)).toMatchObject({ state: 'absent' })
    })

    test('behavior: ensure at the same moment makes one machine', async () => {
      await Promise.all([driver.ensure(spec), driver.ensure(spec), driver.ensure(spec)])
      expect((await driver.inventory()).machines.filter((id) => id === spec.id)).toHaveLength(1)
      expect((await subject.traces(spec.id)).filter((trace) => trace.startsWith('process'))).toHaveLength(1)
      expect(await driver.observe(spec.id)).toMatchObject({ state: 'running' })
    })

    test('behavior: a machine that dies in its first boot is started over by ensure', async () => {
      await subject.crash(spec.id)
      expect((await driver.observe(spec.id)).state).not.toBe('running')
      expect(await untilReady()).toMatchObject({ state: 'running', sshReady: true })
    })

    test('default: the machine is the one of the spec', async () => {
      if (!subject.inside) return
      expect(await inside('hostname; cat /etc/hostname')).toBe(`${spec.hostname}\n${spec.hostname}`)
      expect(await inside('getent hosts "$(hostname)"')).toContain(spec.hostname)
      expect(await inside('cat /root/.ssh/authorized_keys')).toBe(spec.sshAuthorizedKeys.join('\n'))
      expect(await inside('getent shadow root | cut -d: -f2')).toBe(spec.rootPasswordHash)
      expect(await inside('cat /etc/ssh/ssh_host_ed25519_key.pub')).toBe(spec.sshHostKey.publicKey)
      expect(await inside('nproc')).toBe(String(spec.vcpus))
      expect(Number(await inside('df --output=size -BM / | tail -1 | tr -dc 0-9'))).toBeGreaterThan(
        spec.diskGb * 1024 * 0.9,
      )
      expect(Number(await inside(`awk '/MemTotal/{print int($2/1024)}' /proc/meminfo`))).toBeGreaterThan(
        spec.memoryMb * 0.8,
      )
    })

    const userDataRuns = () =>
      inside('while [ -e /var/lib/cloud/seed/nocloud ]; do sleep 1; done; cat /root/user-data-runs')

    test('default: its user data was run, once, and changed nothing of what the spec says', async () => {
      if (!subject.inside) return
      expect(spec.userData).toBe(countingUserData)
      expect(await userDataRuns()).toBe('x')
      expect(await inside('cloud-init status')).toContain('status: done')
      expect(await inside('sshd -T | grep -e ^passwordauth -e ^permitrootlogin')).toBe(
        'permitrootlogin yes\npasswordauthentication no',
      )
      expect(await inside('hostname; cat /etc/hostname')).toBe(`${spec.hostname}\n${spec.hostname}`)
      expect(await inside('getent hosts "$(hostname)"')).toContain(spec.hostname)
      expect(await inside('cat /root/.ssh/authorized_keys')).toBe(spec.sshAuthorizedKeys.join('\n'))
      expect(await inside('getent shadow root | cut -d: -f2')).toBe(spec.rootPasswordHash)
      expect(await inside('cat /etc/ssh/ssh_host_*.pub')).toBe(spec.sshHostKey.publicKey)
      expect(await inside('find /etc/systemd/network /etc/network* -name "*cloud*" 2>/dev/null; true')).toBe(
        '',
      )
      expect(await inside('systemctl --failed --plain --no-legend')).toBe('')
    })

    test('behavior: ensure again changes nothing', async () => {
      await inside('echo kept > /root/kept; sync')
      const before = await driver.observe(spec.id)
      await driver.ensure(spec)
      await driver.ensure(spec)
      const after = await driver.observe(spec.id)
      expect(after).toMatchObject({ state: 'running', sshReady: true })
      expect(after.uptimeSeconds).toBeGreaterThanOrEqual(before.uptimeSeconds!)
    })

    test('behavior: the network that is wanted is applied again and again; text that is no rule is refused', async () => {
      const rule = { action: 'deny', direction: 'in', protocol: 'tcp', ports: ['8080'] } as const
      const policy: NetworkPolicy = {
        firewall: {
          defaultIn: 'allow',
          defaultOut: 'allow',
          rules: [{ ...rule, ports: ['8080', '8000-9000'] }],
        },
        ports: [],
      }
      const expected = (await driver.inventory()).features.firewall ? 'none' : 'unsupported'
      expect(await codeOf(driver.applyNetwork(spec.id, policy))).toBe(expected)
      expect(await codeOf(driver.applyNetwork(spec.id, policy))).toBe(expected)
      expect(await codeOf(driver.applyNetwork(spec.id, openPolicy))).toBe('none')
      const injected = { ...policy.firewall, rules: [{ ...rule, ports: ['80 } accept #'] }] }
      expect(await codeOf(driver.applyNetwork(spec.id, { ...policy, firewall: injected }))).toBe(
        'spec_invalid',
      )
      expect(await driver.observe(spec.id)).toMatchObject({ state: 'running', sshReady: true })
    })

    test('behavior: after its first boot, a machine that died stays so until it is started, and keeps its disk', async () => {
      await subject.crash(spec.id)
      await driver.ensure(spec)
      expect(await driver.observe(spec.id)).toMatchObject({ state: 'stopped', sshReady: false })
      await driver.power(spec.id, 'start')
      await untilReady()
      if (subject.inside) expect(await inside('cat /root/kept')).toBe('kept')
    })

    test('behavior: stop and start, each also twice', async () => {
      await driver.power(spec.id, 'stop')
      expect(await driver.observe(spec.id)).toMatchObject({ state: 'stopped', sshReady: false })
      await driver.power(spec.id, 'stop')
      await driver.power(spec.id, 'force_stop')
      expect(await driver.observe(spec.id)).toMatchObject({ state: 'stopped' })
      await driver.power(spec.id, 'start')
      await driver.power(spec.id, 'start')
      expect(await driver.observe(spec.id)).toMatchObject({ state: 'running' })
      expect((await subject.traces(spec.id)).filter((trace) => trace.startsWith('process'))).toHaveLength(1)
    })

    test('behavior: in rescue another system runs, with the disk beside it; after that its own again', async () => {
      // A host without the feature is under test in `lacked-features.suite.ts`.
      if (!(await driver.inventory()).features.rescue) return
      await driver.ensure({ ...spec, rescue: true })
      await driver.power(spec.id, 'force_stop')
      await driver.ensure({ ...spec, rescue: true })
      await driver.power(spec.id, 'start')
      await untilReady()
      const look =
        'hostname; ls /root; mount /dev/vdb1 /mnt && cat /mnt/root/kept && echo changed > /mnt/root/kept'
      if (subject.inside) expect(await inside(look)).toBe('rescue\nkept')
      await driver.power(spec.id, 'stop')
      await driver.ensure(spec)
      await driver.power(spec.id, 'start')
      await untilReady()
      if (subject.inside)
        expect(await inside('hostname; cat /root/kept; echo kept > /root/kept; sync')).toBe(
          `${spec.hostname}\nchanged`,
        )
      const traces = await subject.traces(spec.id)
      expect(traces.filter((trace) => trace.includes('rescue'))).toEqual([])
    })

    test('behavior: reset boots anew, from the same disk', async () => {
      await untilReady()
      const bootId = await inside('cat /proc/sys/kernel/random/boot_id')
      await driver.power(spec.id, 'reset', 3)
      expect((await untilReady()).boot).toBe(3)
      if (!subject.inside) return
      expect(await inside('cat /root/kept')).toBe('kept')
      expect(await inside('cat /proc/sys/kernel/random/boot_id')).not.toBe(bootId)
      expect(await userDataRuns()).toBe('x')
      expect(await inside('journalctl --boot --no-pager | grep -c "cloud-init\\["; true')).toBe('0')
    })

    test('behavior: reboot and force_stop', async () => {
      await driver.power(spec.id, 'reboot', 4)
      expect(await driver.observe(spec.id)).toMatchObject({ state: 'running', boot: 4 })
      const { uptimeSeconds } = await driver.observe(spec.id)
      await subject.pause()
      for (const action of ['reboot', 'reset'] as const) await driver.power(spec.id, action, 4)
      expect((await driver.observe(spec.id)).uptimeSeconds).toBeGreaterThanOrEqual(uptimeSeconds!)
      await driver.power(spec.id, 'force_stop')
      expect(await driver.observe(spec.id)).toMatchObject({ state: 'stopped', boot: 4 })
      await driver.power(spec.id, 'reset', 5)
      expect(await driver.observe(spec.id)).toMatchObject({ state: 'running', boot: 5 })
      await driver.ensure(spec)
      expect(await driver.observe(spec.id)).toMatchObject({ boot: 5 })
    })

    test('behavior: destroy leaves nothing, and may be repeated', async () => {
      expect((await driver.inventory()).machines).toContain(spec.id)
      expect((await driver.observeAll()).get(spec.id)).toMatchObject({ state: 'running' })
      await driver.destroy(spec.id)
      expect(await subject.traces(spec.id)).toEqual([])
      expect(await driver.observe(spec.id)).toEqual({ state: 'absent', sshReady: false })
      expect((await driver.inventory()).machines).not.toContain(spec.id)
      await driver.destroy(spec.id)
    })

    test('default: what the host says of itself', async () => {
      const { capacity, images, usedPorts } = await driver.inventory()
      const { vcpus, memoryMb, diskGb } = capacity
      expect(Math.min(vcpus, memoryMb, diskGb)).toBeGreaterThan(0)
      expect(images).toContainEqual(expect.objectContaining({ slug: spec.image, state: 'ready' }))
      expect(usedPorts.every(Number.isInteger)).toBe(true)
    })
  })
}
