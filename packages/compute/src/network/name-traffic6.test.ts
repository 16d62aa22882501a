import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { macAddress } from '../machine/command-line.ts'
import { closedNetwork, openNetwork, type SandboxNetwork } from '../ports/sandbox-network.ts'
import { namesAndPolicyOf } from '../sandbox/network.ts'
import { makeVpsId } from '../testing.ts'
import { namespaceFile } from './addresses.ts'
import { createMachineNetworks } from './machine-networks.ts'
import { egressTo } from './testing.ts'
import { BRIDGE, OUTSIDE6, PRIVATE6, ROUTER6, startBridgeWorld } from './testing-bridge-world.ts'
import { type GuestStandIn, startGuestStandIn } from './testing-guest.ts'
import { INTERNET, PRIVATE, startWorld } from './testing-world.ts'

/** Rules by name over IPv6: real resolvers, AAAA records and routes, with namespaces in the place of guest and world. */

const OWN = '2001:db8:ffff::207'
const networks = createMachineNetworks(
  { ...egressTo('2001:db8::/32'), resolvers: [PRIVATE] },
  { info: () => {} },
  { bridge: BRIDGE },
)
const possible = await networks.isPossible()
const id = makeVpsId()
/** A name that has the address. */
const named = (address: string, below: string) => `${address.replaceAll(':', '-')}.${below}`

describe.skipIf(!possible)('what is reached by name over IPv6', { timeout: 60_000 }, () => {
  let guest: GuestStandIn
  let endWorlds: () => Promise<void>

  const apply = (network: SandboxNetwork) =>
    networks.make(id, {
      macAddress: macAddress(id),
      addresses: { ipv6: OWN },
      ...namesAndPolicyOf(network),
    })
  const allow = (...allowOut: string[]) => apply({ ...closedNetwork, allowOut })
  const resolve = (name: string) =>
    guest.run(
      `dig @10.0.2.3 ${name} AAAA +time=10 +tries=1 | awk '/status:/ {print $6} $4 == "AAAA" {print $5}'`,
    )
  const reach = (address: string, port = 80) =>
    guest.run(`timeout 5 bash -c 'head -c 40 </dev/tcp/${address}/${port}'`)
  const reached = `caller ${OWN}`
  const elements = async (set: string) => {
    const command = [`--net=${namespaceFile(id)}`, 'nft', 'list', 'set', 'inet', 'coinrack', set]
    const { stdout } = await runCommand('nsenter', command)
    return [...stdout.matchAll(/([\d.a-f:]+) timeout/g)].map(([, address]) => address)
  }

  beforeAll(async () => {
    const endWorld = await startWorld()
    const endBridge = await startBridgeWorld()
    endWorlds = async () => {
      await endWorld()
      await endBridge()
    }
    await apply(openNetwork)
    guest = await startGuestStandIn(`crs${process.pid}`, id, macAddress(id), OWN)
    while ((await reach(OUTSIDE6)) !== reached) await sleep(50)
  })
  afterAll(async () => {
    await guest?.end()
    await networks.remove(id)
    await endWorlds?.()
  })
  // No address is left of the test before.
  beforeEach(() => apply(openNetwork))

  test('default: a name that is allowed is resolved and reached, and no other address', async () => {
    await allow('*.good.example', 'other.example')
    expect(await reach(OUTSIDE6)).toBe('no')
    expect(await resolve(named(OUTSIDE6, 'good.example'))).toBe(`NOERROR,\n${OUTSIDE6}`)
    expect(await reach(OUTSIDE6)).toBe(reached)
    expect(await reach(ROUTER6)).toBe('no')
    expect(await resolve(named(ROUTER6, 'bad.example'))).toBe('REFUSED,')
    expect(await reach(ROUTER6)).toBe('no')
    expect([await elements('allowed_names6'), await elements('allowed_names')]).toEqual([[OUTSIDE6], []])
  })

  test('default: what a denied name leads to is denied, whether it is asked for or not; other addresses are not', async () => {
    expect(await reach(OUTSIDE6)).toBe(reached)
    await apply({ ...openNetwork, denyOut: [named(OUTSIDE6, 'bad.example'), '*.worse.example'] })
    while ((await elements('denied_names6')).length === 0) await sleep(50)
    expect(await reach(OUTSIDE6)).toBe('no')
    expect(await reach(ROUTER6)).toBe(reached)
    expect(await resolve(named(ROUTER6, 'worse.example'))).toBe('REFUSED,')
    expect(await reach(ROUTER6)).toBe('no')
  })

  test('behavior: an allowed name leads to no private network and to no port of mail', async () => {
    await allow('*.rebind.example')
    expect(await resolve(named(PRIVATE6, 'rebind.example'))).toBe(`NOERROR,\n${PRIVATE6}`)
    expect(await elements('allowed_names6')).toEqual([PRIVATE6])
    expect(await reach(PRIVATE6)).toBe('no')
    expect(await resolve(named(OUTSIDE6, 'rebind.example'))).toContain(OUTSIDE6)
    expect(await reach(OUTSIDE6)).toBe(reached)
    expect(await reach(OUTSIDE6, 25)).toBe('no')
  })

  test('behavior: a change of the rules forgets what names led to, of both families', async () => {
    await allow('*.old.example', '*.kept.example')
    await resolve(named(OUTSIDE6, 'old.example'))
    await resolve(named(ROUTER6, 'kept.example'))
    expect(await reach(OUTSIDE6)).toBe(reached)
    await guest.run('dig @10.0.2.3 any.old.example')
    expect(await elements('allowed_names')).toEqual([INTERNET])
    await allow('*.kept.example')
    expect([await elements('allowed_names6'), await elements('allowed_names')]).toEqual([[ROUTER6], []])
    expect(await reach(OUTSIDE6)).toBe('no')
    expect(await reach(ROUTER6)).toBe(reached)
  })
})
