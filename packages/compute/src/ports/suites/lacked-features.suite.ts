import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { VpsConsole } from '../console.ts'
import type { GuestChannel, GuestError } from '../guest-channel.ts'
import { type FirewallRule, openPolicy } from '../network-policy.ts'
import type { RetainedDisks } from '../retained-disks.ts'
import type { VpsSnapshots } from '../snapshot.ts'
import type { DriverError, HostFeatures, OwnAddresses, VpsDriver, VpsSpec } from '../vps-driver.ts'

/** All ports of a host, and a machine on it. */
export interface HostUnderTest {
  driver: VpsDriver
  snapshots: VpsSnapshots
  retainedDisks: RetainedDisks
  console: VpsConsole
  guests: GuestChannel
  /** A machine that runs, its first boot complete. */
  spec: VpsSpec
  /** A spec of a machine that the host has not got, with these addresses. */
  newSpec(addresses: OwnAddresses): VpsSpec
  close?(): Promise<void>
}

/** The duties of every host that lacks features: it refuses what needs them, and leaves everything as it was. */
export function lackedFeaturesSuite(name: string, make: () => Promise<HostUnderTest>): void {
  describe(`${name}: features that a host lacks`, { timeout: 8 * 60_000 }, () => {
    let host: HostUnderTest
    let features: HostFeatures
    beforeAll(async () => {
      host = await make()
      ;({ features } = await host.driver.inventory())
    }, 8 * 60_000)
    afterAll(() => host?.close?.())

    const codeOf = (call: Promise<unknown>) =>
      call.then(
        () => 'none',
        (error: DriverError | GuestError) => error.code,
      )

    const ensureNew = async (addresses: OwnAddresses) => {
      const spec = host.newSpec(addresses)
      const code = await codeOf(host.driver.ensure(spec))
      const { state } = await host.driver.observe(spec.id)
      expect(code === 'none' || state === 'absent').toBe(true)
      await host.driver.destroy(spec.id)
      return [code]
    }
    const oneRule: FirewallRule = { action: 'deny', direction: 'in', protocol: 'tcp', ports: ['8080'] }

    /** The calls that need each feature, and the codes that they end with. */
    const calls: Record<keyof HostFeatures, () => Promise<string[]>> = {
      firewall: async () => [
        await codeOf(
          host.driver.applyNetwork(host.spec.id, {
            ...openPolicy,
            firewall: { ...openPolicy.firewall, rules: [oneRule] },
          }),
        ),
      ],
      ownAddresses: () => ensureNew({ ipv4: '198.18.0.7' }),
      portForwarding: () => ensureNew({}),
      ipv6: () => ensureNew({ ...host.spec.addresses, ipv6: '2001:db8::7' }),
      memorySnapshots: async () => [
        await codeOf(host.snapshots.take(host.spec.id, 'memory', { memory: true })),
      ],
      retainedDisks: async () => [
        await codeOf(host.retainedDisks.setAside(host.spec.id, 'kept')),
        await codeOf(host.retainedDisks.putBack(host.spec.id, 'kept')),
      ],
      serialConsole: async () => [await codeOf(host.console.connect(host.spec.id, 'serial'))],
      screen: async () => [await codeOf(host.console.connect(host.spec.id, 'vnc'))],
      rescue: async () => [await codeOf(host.driver.ensure({ ...host.spec, rescue: true }))],
      guestCommands: async () => {
        const { id } = host.spec
        const { guests } = host
        return [
          await codeOf(guests.exec(id, { command: 'true', timeoutMs: 5_000 })),
          await codeOf(guests.readFile(id, '/etc/hostname', { offset: 0, length: 1 })),
          await codeOf(guests.writeFile(id, '/root/file', Buffer.from('x'))),
          await codeOf(guests.setHostname(id, 'other')),
          await codeOf(guests.setRootPasswordHash(id, '$6$salt$hash')),
          await codeOf(guests.usage(id)),
        ]
      },
    }

    test.each(Object.keys(calls) as (keyof HostFeatures)[])('error: without %s', async (feature) => {
      if (features[feature]) return
      const before = await host.driver.observe(host.spec.id)
      const codes = await calls[feature]()
      expect(codes).toEqual(codes.map(() => 'unsupported'))
      expect(await host.driver.observe(host.spec.id)).toMatchObject({
        state: before.state,
        sshReady: before.sshReady,
      })
      expect(await host.snapshots.list(host.spec.id)).toEqual([])
      expect(await host.retainedDisks.list(host.spec.id)).toEqual([])
    })
  })
}
