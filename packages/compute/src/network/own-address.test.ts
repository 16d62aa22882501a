import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { macAddress } from '../machine/command-line.ts'
import { type FirewallRule, openPolicy } from '../ports/network-policy.ts'
import { makeVpsId } from '../testing.ts'
import { linkAddresses, linkName } from './addresses.ts'
import { slotOf } from './link-slots.ts'
import { createMachineNetworks } from './machine-networks.ts'
import { addressTraces, networkTraces } from './testing.ts'
import {
  BRIDGE,
  bridgeEgress,
  fromOutside,
  METADATA_OUTSIDE,
  OUTSIDE,
  PRIVATE_OUTSIDE,
  ROUTER,
  startBridgeWorld,
} from './testing-bridge-world.ts'
import { type GuestStandIn, startGuestStandIn } from './testing-guest.ts'
import { fromHost } from './testing-world.ts'

/** Addresses of machines' own on a real bridge, with namespaces in the place of guests and of the network around. */

const A = '198.18.0.7'
const B = '198.18.0.8'
const FREE = '198.18.0.9'
const routing = { bridge: BRIDGE, gateway: ROUTER }
const quiet = { info: () => {} }
const networks = createMachineNetworks(bridgeEgress, quiet, routing)
const possible = await networks.isPossible()

describe.skipIf(!possible)('an address of its own', { timeout: 120_000 }, () => {
  let a: { id: string; guest: GuestStandIn }
  let b: typeof a
  let endWorld: () => Promise<void>

  const specOf = (id: string, ipv4: string) => ({
    macAddress: macAddress(id),
    addresses: { ipv4 },
    policy: openPolicy,
  })
  const make = async (name: string, ipv4: string) => {
    const id = makeVpsId()
    await networks.make(id, specOf(id, ipv4))
    return { id, guest: await startGuestStandIn(`cro${name}${process.pid}`, id, macAddress(id)) }
  }
  const filter = (rules: FirewallRule[], change = {}) =>
    networks.make(a.id, {
      ...specOf(a.id, A),
      policy: { firewall: { ...openPolicy.firewall, rules, ...change }, ports: [] },
    })
  const fromInside = (host: string, port: number) =>
    a.guest.run(`timeout 3 bash -c 'head -c 30 </dev/tcp/${host}/${port}'`)

  beforeAll(async () => {
    endWorld = await startBridgeWorld()
    a = await make('a', A)
    b = await make('b', B)
    for (const address of [A, B]) while ((await fromHost(address, 22)) === 'no') {}
    while ((await fromOutside(A, 22)) === 'no' || (await fromInside(OUTSIDE, 80)) === 'no') {}
  })
  afterAll(async () => {
    for (const one of [a, b]) {
      await one?.guest.end()
      if (one) await networks.remove(one.id)
    }
    await endWorld?.()
  })

  test('default: every port of the address leads to the guest, which sees who calls', async () => {
    expect(await fromOutside(A, 22)).toBe(`SSH-2.0 ${OUTSIDE}`)
    expect(await fromOutside(A, 8022)).toBe(`SSH-2.0 ${OUTSIDE}`)
    expect(await fromOutside(B, 22)).toBe(`SSH-2.0 ${OUTSIDE}`)
    expect(await fromHost(A, 22)).toBe('SSH-2.0')
  })

  test('default: the guest reaches the world by the router, and from its own address', async () => {
    expect(await fromInside(OUTSIDE, 80)).toBe(`caller ${A}`)
    expect(await b.guest.run(`timeout 3 bash -c 'head -c 30 </dev/tcp/${OUTSIDE}/80'`)).toBe(`caller ${B}`)
  })

  test('behavior: an address that no machine has is answered for by nobody', async () => {
    expect(await fromOutside(FREE, 22)).toBe('no')
    expect(await addressTraces(FREE)).toEqual([])
  })

  test('behavior: what the operator blocks is blocked', async () => {
    const blocked = [
      [PRIVATE_OUTSIDE, 80],
      [METADATA_OUTSIDE, 80],
      [OUTSIDE, 25],
    ] as const
    expect(await Promise.all(blocked.map(([host, port]) => fromInside(host, port)))).toEqual([
      'no',
      'no',
      'no',
    ])
    const open = createMachineNetworks(
      { ...bridgeEgress, blockedNetworks: [], blockedPorts: [] },
      quiet,
      routing,
    )
    await open.make(a.id, specOf(a.id, A))
    for (const [host, port] of blocked) expect(await fromInside(host, port)).toBe(`caller ${A}`)
    await filter([])
  })

  test('behavior: neither the host nor another guest is reached', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).end('secret\n')).listen(0, '0.0.0.0')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const { host, machine } = linkAddresses((await slotOf(a.id))!)
    const other = linkAddresses((await slotOf(b.id))!).machine
    try {
      expect(await fromHost(host, port)).toBe('secret\n')
      const tried = [
        [host, port],
        [machine, port],
        ['127.0.0.1', port],
        ['10.0.2.2', port],
        [other, 22],
        [B, 22],
      ] as const
      const seen = await Promise.all(tried.map(([address, at]) => fromInside(address, at)))
      expect(seen).toEqual(tried.map(() => 'no'))
      // A server on every address of the host does not listen on the guest's.
      expect(await fromOutside(A, port)).toBe('no')
    } finally {
      server.close()
    }
  })

  test('behavior: what the guest sends from another address is dropped, also from its public one', async () => {
    for (const address of ['10.0.2.77', A, B]) {
      await a.guest.run(`ip address add ${address}/32 dev eth0`)
      const get = `curl -s -m 2 --http0.9 --interface ${address} http://${OUTSIDE}/`
      expect([address, await a.guest.run(get)]).toEqual([address, 'no'])
      await a.guest.run(`ip address del ${address}/32 dev eth0`)
    }
    expect(await fromInside(OUTSIDE, 80)).toBe(`caller ${A}`)
  })

  test('behavior: the firewall decides about the address, and the service still looks at SSH', async () => {
    await filter(
      [
        { action: 'allow', direction: 'in', protocol: 'tcp', ports: ['8022'], cidr: OUTSIDE },
        { action: 'deny', direction: 'out', protocol: 'tcp', ports: ['80'], cidr: OUTSIDE },
      ],
      { defaultIn: 'deny' },
    )
    expect(await fromOutside(A, 8022)).toBe(`SSH-2.0 ${OUTSIDE}`)
    expect(await fromOutside(A, 8022, ROUTER)).toBe('no')
    expect(await fromOutside(A, 22)).toBe('no')
    expect(await fromInside(OUTSIDE, 80)).toBe('no')
    const look = (await networks.lookAt(a.id))!
    expect(await fromHost(look.host, look.port)).toBe('SSH-2.0')
    await filter([])
    expect(await fromOutside(A, 22)).toBe(`SSH-2.0 ${OUTSIDE}`)
  })

  test('behavior: its traffic is counted', async () => {
    const before = (await networks.traffic(a.id))!
    await a.guest.run(`head -c 4000 /dev/zero >/dev/udp/${OUTSIDE}/9`)
    expect(await fromInside(OUTSIDE, 80)).toBe(`caller ${A}`)
    const after = (await networks.traffic(a.id))!
    expect(after.txBytes - before.txBytes).toBeGreaterThan(4_000)
    expect(after.rxBytes - before.rxBytes).toBeGreaterThan(300)
  })

  test('error: an address that leads to another machine is not taken from it', async () => {
    const third = makeVpsId()
    await expect(networks.make(third, specOf(third, A))).rejects.toMatchObject({ code: 'guest_failed' })
    await networks.remove(third)
    expect(await networkTraces(third)).toEqual([])
    expect(await fromOutside(A, 22)).toBe(`SSH-2.0 ${OUTSIDE}`)
  })

  test('behavior: another bridge and no router are taken over by what runs', async () => {
    const routed = createMachineNetworks(bridgeEgress, quiet)
    await routed.make(a.id, specOf(a.id, A))
    expect((await addressTraces(A)).filter((line) => /proxy|lookup/.test(line))).toEqual([])
    await filter([])
    expect(await fromInside(OUTSIDE, 80)).toBe(`caller ${A}`)
  })

  test('behavior: whatever a kill left is made whole, or removed', async () => {
    const script = join(import.meta.dirname, 'addresses.sh')
    const { machine } = linkAddresses((await slotOf(b.id))!)
    const change = (address: string) => [script, linkName(b.id), machine, BRIDGE, ROUTER, '9610', address]
    for (let ms = 1; ms < 40; ms += 4) {
      const child = spawn('sh', change(ms % 8 === 1 ? FREE : B), { detached: true })
      await sleep(ms)
      try {
        process.kill(-child.pid!, 'SIGKILL')
      } catch {
        // It was done before.
      }
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }
    await networks.make(b.id, specOf(b.id, B))
    expect(await addressTraces(FREE)).toEqual([])
    expect(await fromOutside(B, 22)).toBe(`SSH-2.0 ${OUTSIDE}`)
  })

  test('behavior: remove leaves nothing of the address, and the other as it is', async () => {
    expect(await addressTraces(A)).toHaveLength(4)
    await networks.remove(a.id)
    expect(await networkTraces(a.id)).toEqual([])
    expect(await addressTraces(A)).toEqual([])
    expect(await fromOutside(A, 22)).toBe('no')
    expect(await fromOutside(B, 22)).toBe(`SSH-2.0 ${OUTSIDE}`)
  })
})
