import { once } from 'node:events'
import { readdir, readFile, rm, stat, truncate } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guestFiles, macAddress } from '../machine/command-line.ts'
import { defaultUserIds } from '../machine/machine-users.ts'
import type { QemuDriver } from './driver.ts'
import { makeSshAccess, type SshAccess } from './testing.ts'
import {
  makeAndKill,
  makeCloningDriver,
  makeDataFolder,
  makeReady,
  processesOf,
  runsAsClone,
  secretsOf,
} from './testing-clones.ts'

/**
 * The units that systemd keeps active, without those of a first boot alone, and without the clock, which a timer starts
 * some time after a boot.
 */
const UNITS = `systemctl list-units --state=active --type=service,socket,timer --plain --no-legend |
  cut -d' ' -f1 | grep -v -e systemd-timesyncd.service -e systemd-machine-id-commit -e ^user -e ^coinrack | sort`

/** Says what is wrong with the journal so far. While a file is written to it may not look sound, so that it is closed first. */
const verifyJournal = `journalctl --rotate; journalctl -q --verify --file='/var/log/journal/*/*@*.journal' 2>&1 | grep -v '^PASS: ' || :`

/** Real clones of a real template, which is booted once for all of them. */

const IMAGE = process.env.COINRACK_TEST_IMAGE ?? 'debian-13'
const cacheFolder =
  process.env.COINRACK_CACHE ??
  (process.getuid?.() === 0 ? '/var/cache/coinrack' : join(homedir(), '.cache/coinrack'))
const clock = { now: () => new Date() }
const SNAPSHOT = 'snap_1'
const isFull = process.env.COINRACK_TEST_FULL !== undefined
/** `npm test` kills at one of the moments, `npm run test:full` at each. */
const seed = Number(process.env.COINRACK_TEST_SEED ?? Math.floor(Math.random() * 1_000))
const shape = { image: IMAGE, vcpus: 1, memoryMb: 512 }

describe('QEMU: clones of a booted template', { timeout: 8 * 60_000 }, () => {
  let dataFolder: string
  let driver: QemuDriver
  let said: string[]
  let first: SshAccess
  const machines: SshAccess[] = []

  const order = async (hostname: string) => {
    const access = await makeSshAccess({ ...shape, hostname })
    machines.push(access)
    return access
  }
  const templates = () => join(dataFolder, 'templates')
  const templateFolder = async () => {
    const names = await readdir(templates())
    return join(templates(), names.find((name) => /^[0-9a-f]{16}$/.test(name))!)
  }
  const folderOf = ({ spec }: SshAccess) => join(dataFolder, 'machines', spec.id)

  beforeAll(async () => {
    dataFolder = await makeDataFolder()
    ;({ driver, said } = await makeCloningDriver({ dataFolder, cacheFolder, clock }))
    await driver.prepare(() => {})
    await driver.keepTemplate(shape)
    expect(said).toEqual(['building a template', 'template built'])
    first = await order('web-1.example.net')
  }, 30 * 60_000)

  afterAll(async () => {
    for (const { spec } of machines) await driver.destroy(spec.id)
    await rm(dataFolder, { recursive: true })
  })

  test('default: an order becomes a machine that root enters by key, verified, and by password', async () => {
    await makeReady(driver, first.spec)
    expect(await runsAsClone(first.spec.id)).toBe(true)
    expect(await first.byKey('hostname')).toBe('web-1.example.net')
    expect(await first.byPassword('id -un')).toBe('root')
    expect(said.slice(2)).toEqual(['machine cloned'])
  })

  test('behavior: its journal is whole, and its own, from its first second', async () => {
    const seen = await first.byKey(`
      logger -t probe 'hello from a clone'; journalctl --sync
      journalctl -q --boot -t probe -o cat
      journalctl -q --boot -u ssh.service -o cat | grep -c '^Started' || :
      [ "$(ls /var/log/journal)" = "$(cat /etc/machine-id)" ] && echo own
      ${verifyJournal}
      dmesg | grep journald | grep -i -e fail -e error -e corrupt || :`)
    expect(seen.split('\n')).toEqual(['hello from a clone', '1', 'own'])
    const screen = await readFile(join(folderOf(first), 'serial.log'), 'utf8')
    expect(screen).not.toMatch(/journald.*(fail|error|corrupt)/i)
  })

  test('behavior: it has the disk of its plan, the time, its network, and all that runs in a machine', async () => {
    const seen = await first.byKey(`
      units='ssh dbus systemd-logind systemd-networkd systemd-journald timers.target'
      while [ "$(systemctl is-active $units | sort -u)" != active ]; do sleep 1; done
      lsblk -bno SIZE /dev/vda1; df -B1 --output=size / | tail -1; date +%s; ip address show up
      ping -qc1 -W5 10.0.2.2 | grep -o '1 received'
      systemctl is-active $units | sort -u
      systemctl list-units --failed --plain --no-legend; journalctl -q | grep -c warm || :`)
    const [partition, fileSystem, time, ...rest] = seen.split('\n')
    expect(Number(partition)).toBe(first.spec.diskGb * 1024 ** 3 - 2048 * 512)
    expect(Number(fileSystem)).toBeGreaterThan(first.spec.diskGb * 0.9 * 1024 ** 3)
    expect(Math.abs(Date.now() / 1000 - Number(time))).toBeLessThan(30)
    expect(rest.join('\n')).toContain('10.0.2.15/24')
    expect(rest.join('\n')).toContain(`link/ether ${macAddress(first.spec.id)}`)
    expect(rest).toContain('1 received')
    expect(rest.slice(-2)).toEqual(['active', '0'])
  })

  test('behavior: no two clones share a secret', async () => {
    const second = await order('web-2')
    const third = await order('web-3')
    await Promise.all([makeReady(driver, second.spec), makeReady(driver, third.spec)])
    const all = [await secretsOf(first), await secretsOf(second), await secretsOf(third)]
    expect(all[0]!.size).toBe(13)
    for (const name of all[0]!.keys()) {
      const values = all.map((secrets) => secrets.get(name))
      expect(values.every(Boolean), name).toBe(true)
      expect(new Set(values).size, `${name}: ${values}`).toBe(all.length)
    }
    expect(all[0]!.get('password hash')).toBe(first.spec.rootPasswordHash)
    for (const { spec } of [second, third]) await driver.destroy(spec.id)
  })

  test('default: user data makes no cold boot: cloud-init runs it in the clone, once, and its word counts', async () => {
    const access = await makeSshAccess({
      ...shape,
      hostname: 'web-4',
      userData: `#cloud-config
ssh_pwauth: false
write_files:
  - {path: /etc/motd, content: 'from user data'}
runcmd:
  - printf x >>/root/runs
  - systemctl is-active dbus.service systemd-networkd.service systemd-logind.service >/root/units
  - rsync --archive /etc/motd /root/copy
`,
    })
    machines.push(access)
    await makeReady(driver, access.spec)
    expect(await runsAsClone(access.spec.id)).toBe(true)
    expect(await access.byKey('cloud-init status --wait | tr -d .')).toMatch(/^status: done/m)
    expect(await access.byKey('sshd -T | grep -e ^passwordauth -e ^permitrootlogin')).toBe(
      'permitrootlogin yes\npasswordauthentication no',
    )
    await expect(access.byPassword('true')).rejects.toThrow('Permission denied')
    await access.byKey('while [ -e /var/lib/cloud/seed/nocloud ]; do sleep 0.2; done')
    await access.byKey('systemctl start coinrack-user-data.service')
    expect(await access.byKey('cat /root/runs; echo; sort -u /root/units; cat /root/copy; hostname')).toBe(
      'x\nactive\nfrom user dataweb-4',
    )
    expect(await access.byKey(`systemctl --failed --plain --no-legend; ${verifyJournal}`)).toBe('')
    await driver.destroy(access.spec.id)
  })

  test('behavior: services that draw secrets were started after the clone had its own', async () => {
    const started = await first.byKey(`
      own=$(stat -c %Y /var/lib/systemd/random-seed)
      for unit in ssh dbus systemd-journald systemd-networkd systemd-logind; do
        at=$(date -d "$(systemctl show -P ExecMainStartTimestamp $unit)" +%s)
        [ "$at" -ge "$own" ] && echo "$unit after" || echo "$unit $at before $own"
      done`)
    expect(started.split('\n').filter((line) => !line.endsWith('after'))).toEqual([])
  })

  test('behavior: QEMU runs without privileges, and its own view of the template is sealed', async () => {
    const [pid] = await processesOf(first.spec.id)
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    const uid = Number(/^Uid:\t(\d+)\t/m.exec(status)![1])
    const { from, to } = defaultUserIds
    if (process.getuid?.() === 0) expect(uid >= from && uid <= to).toBe(true)
    expect(status).toMatch(/^Seccomp:\t2$/m)
    expect(status).toMatch(/^CapEff:\t0+$/m)
    const maps = await readFile(`/proc/${pid}/maps`, 'utf8')
    expect(maps).toMatch(/ rw-p .*memfd:coinrack-template/)
    expect(maps).not.toMatch(/ rw-s .*memfd:coinrack-template/)
  })

  test('behavior: of disk and memory a snapshot is taken, and gone back to', async () => {
    await first.byKey('echo before > /run/state; echo before > /root/state')
    expect(await driver.snapshots.take(first.spec.id, SNAPSHOT, { memory: true })).toEqual({
      consistency: 'memory',
    })
    await first.byKey('echo after > /run/state; echo after > /root/state; sync')
    await driver.snapshots.restore(first.spec.id, SNAPSHOT)
    expect(await first.byKey('cat /run/state /root/state')).toBe('before\nbefore')
  })

  test('behavior: after a reboot from inside it came up from its own disk, with its own secrets', async () => {
    const before = await secretsOf(first)
    const unitsOfClone = await first.byKey(UNITS)
    await first.byKey('echo kept > /root/note; sync; systemctl reboot').catch(() => {})
    await untilBooted(first, before.get('boot_id')!)
    const after = await secretsOf(first)
    await first.byKey('systemctl is-system-running --wait')
    expect(await first.byKey(UNITS)).toBe(unitsOfClone)
    const lasting = ['ssh host key', 'machine-id', 'hardware address', 'password hash', 'host name']
    for (const name of lasting) expect(after.get(name), name).toBe(before.get(name))
    for (const name of ['boot_id', 'urandom', 'random seed'])
      expect(after.get(name), name).not.toBe(before.get(name))
    expect(await first.byKey('cat /root/note; findmnt -n /proc/sys/kernel/random/boot_id || :')).toBe('kept')
    expect(await first.byKey('cat /proc/cmdline')).toContain('BOOT_IMAGE=/vmlinuz')
  })

  test('behavior: started anew it is no clone any more, and still goes back to the memory of one', async () => {
    await driver.power(first.spec.id, 'reboot')
    await makeReady(driver, first.spec)
    expect(await runsAsClone(first.spec.id)).toBe(false)
    expect(await first.byKey('cat /root/note')).toBe('kept')
    await driver.snapshots.restore(first.spec.id, SNAPSHOT)
    expect(await first.byKey('cat /run/state /root/state; ls /root/note 2>&1 | grep -c cannot')).toBe(
      'before\nbefore\n1',
    )
    expect(await first.byKey('ping -qc1 -W5 10.0.2.2 >/dev/null && hostname')).toBe('web-1.example.net')
    await driver.destroy(first.spec.id)
  })

  test('behavior: who ordered a cold boot gets one, also where there is a template', async () => {
    const access = await makeSshAccess({ ...shape, boot: 'cold' })
    await driver.ensure(access.spec)
    expect(await runsAsClone(access.spec.id)).toBe(false)
    await driver.destroy(access.spec.id)
  })

  const moments = [
    ['with its mark', async (access: SshAccess) => exists(join(folderOf(access), 'clone-pending'))],
    ['with its disk', async (access: SshAccess) => exists(join(folderOf(access), 'disk.qcow2'))],
    ['awake', async (access: SshAccess) => exists(join(folderOf(access), guestFiles.agent))],
  ] as const
  const chosen = isFull ? moments : [moments[seed % moments.length]!]

  test.each(chosen)(
    'error: a service that is killed when a clone is there %s leaves one machine',
    async (_, moment) => {
      console.log(`COINRACK_TEST_SEED=${seed}`)
      const access = await order('killed')
      const { spec } = access
      await makeAndKill({ dataFolder, cacheFolder }, spec, async () => {
        while (!(await moment(access))) await sleep(5)
        await sleep(150)
      })
      await makeReady(driver, spec)
      expect(await processesOf(spec.id)).toHaveLength(1)
      expect(await access.byKey('hostname')).toBe('killed')
      await driver.destroy(spec.id)
    },
  )

  test('error: a clone whose agent is dead is never handed out: the machine is booted', async () => {
    const impatient = await makeCloningDriver({ dataFolder, cacheFolder, clock, cloneTimeoutMs: 3_000 })
    const access = await order('deaf')
    const making = impatient.driver.ensure(access.spec)
    await killAgent(join(folderOf(access), guestFiles.agent))
    await making
    expect(impatient.said).toContain('no clone came of it: cold boot')
    expect(await processesOf(access.spec.id)).toHaveLength(1)
    expect(await runsAsClone(access.spec.id)).toBe(false)
    expect(await exists(join(folderOf(access), 'clone-pending'))).toBe(false)
    expect(await driver.observe(access.spec.id)).toMatchObject({ state: 'running', sshReady: false })
    await driver.destroy(access.spec.id)
  })

  // Damage of each kind is seen without a machine in `template-store.test.ts`; this boots two.
  test.runIf(isFull)(
    'error: a damaged template makes no clone: the machine is booted, and the template built anew',
    async () => {
      const file = join(await templateFolder(), 'memory')
      await truncate(file, (await stat(file)).size - 512)
      // Another service on the same data: it has not loaded the template yet.
      const next = await makeCloningDriver({ dataFolder, cacheFolder, clock })
      const access = await order('whole')
      await next.driver.ensure(access.spec)
      expect(await runsAsClone(access.spec.id)).toBe(false)
      await driver.destroy(access.spec.id)
      expect(next.said[0]).toBe('template damaged')
      await next.driver.keepTemplate(shape)
      expect(next.said).toContain('template built')
    },
  )
})

const exists = async (path: string) => (await stat(path).catch(() => undefined)) !== undefined

/** Waits for another boot than this one. */
async function untilBooted(access: SshAccess, bootId: string): Promise<void> {
  for (;;) {
    const now = await access.byKey('cat /proc/sys/kernel/random/boot_id').catch(() => bootId)
    if (now !== bootId) return
    await sleep(500)
  }
}

/** Connects as soon as a socket exists and a program listens to it. */
async function firstAt(path: string): Promise<Socket> {
  for (;;) {
    const socket = connect(path)
    const connected = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    if (connected) return socket
    await sleep(2)
  }
}

/** Is the first at the agent's socket, and has the agent end itself for good. */
async function killAgent(path: string): Promise<void> {
  const socket = await firstAt(path)
  const arg = ['-c', 'systemctl mask --now --runtime qemu-guest-agent.service']
  socket.write(`${JSON.stringify({ execute: 'guest-exec', arguments: { path: '/bin/sh', arg } })}\n`)
  await new Promise((resolve) => socket.once('data', resolve))
  await sleep(1_500)
  socket.destroy()
}
