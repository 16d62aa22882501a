import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { macAddress } from '../machine/command-line.ts'
import { type FirewallRule, openPolicy } from '../ports/network-policy.ts'
import { makeVpsId } from '../testing.ts'
import { namespaceFile } from './addresses.ts'
import { createMachineNetworks } from './machine-networks.ts'
import { defaultEgress } from './machine-ruleset.ts'
import { addressTraces, networkTraces } from './testing.ts'
import {
  BRIDGE,
  bridgeEgress,
  fromOutside,
  HOST6,
  OUTSIDE6,
  PRIVATE6,
  ROUTER6,
  startBridgeWorld,
} from './testing-bridge-world.ts'
import { type GuestStandIn, startGuestStandIn } from './testing-guest.ts'

/** IPv6 addresses of machines' own on a real bridge, with namespaces in the place of guests and of the network around. */

const A = '2001:db8:ffff::107'
const B = '2001:db8:ffff::108'
const FREE = '2001:db8:ffff::109'
const BLOCKED = '2001:db8:fffe::/64'
const routing = { bridge: BRIDGE }
const quiet = { info: () => {} }
const networks = createMachineNetworks(bridgeEgress, quiet, routing)
const possible = await networks.isPossible()

describe.skipIf(!possible)('an IPv6 address of its own', { timeout: 120_000 }, () => {
  let a: { id: string; guest: GuestStandIn }
  let b: typeof a
  let endWorld: () => Promise<void>

  /** A machine that shares the host's IPv4 address, at a port that is unused here. */
  const specOf = (id: string, ipv6: string) => ({
    macAddress: macAddress(id),
    listen: { host: '127.0.0.7', port: ipv6 === A ? 1_022 : 1_023 },
    addresses: { ipv6 },
    policy: openPolicy,
  })
  const make = async (name: string, ipv6: string) => {
    const id = makeVpsId()
    await networks.make(id, specOf(id, ipv6))
    return { id, guest: await startGuestStandIn(`cr6${name}${process.pid}`, id, macAddress(id), ipv6) }
  }
  const filter = (rules: FirewallRule[], change = {}) =>
    networks.make(a.id, {
      ...specOf(a.id, A),
      policy: { firewall: { ...openPolicy.firewall, rules, ...change }, ports: [] },
    })
  const fromInside = (host: string, port: number) =>
    a.guest.run(`timeout 3 bash -c 'head -c 40 </dev/tcp/${host}/${port}'`)
  const fromHere = (host: string, port: number) =>
    runCommand('timeout', ['3', 'bash', '-c', `head -c 40 </dev/tcp/${host}/${port}`]).then(
      ({ stdout }) => stdout.trim(),
      () => 'no',
    )

  beforeAll(async () => {
    endWorld = await startBridgeWorld()
    a = await make('a', A)
    b = await make('b', B)
    for (const address of [A, B]) {
      while ((await fromHere(address, 22)) === 'no') {}
      // Neighbour discovery on the bridge may begin with a pause.
      while ((await fromOutside(address, 22, OUTSIDE6)) === 'no') {}
    }
  })
  afterAll(async () => {
    for (const one of [a, b]) {
      await one?.guest.end()
      if (one) await networks.remove(one.id)
    }
    await endWorld?.()
  })

  test('default: every port leads to the guest, both ways without translation', async () => {
    expect(await fromOutside(A, 22, OUTSIDE6)).toBe(`SSH-2.0 ${OUTSIDE6}`)
    expect(await fromOutside(B, 8022, OUTSIDE6)).toBe(`SSH-2.0 ${OUTSIDE6}`)
    expect(await fromInside(OUTSIDE6, 80)).toBe(`caller ${A}`)
    expect(await fromOutside(FREE, 22, OUTSIDE6)).toBe('no')
  })

  test('behavior: private networks, what the operator blocks and ports of mail are out of reach', async () => {
    expect(await fromHere(PRIVATE6, 80)).toMatch(/^caller/)
    expect(await fromInside(PRIVATE6, 80)).toBe('no')
    expect(await fromHere(OUTSIDE6, 25)).toMatch(/^caller/)
    expect(await fromInside(OUTSIDE6, 25)).toBe('no')
    const blockedNetworks = [...bridgeEgress.blockedNetworks, BLOCKED]
    await createMachineNetworks({ ...bridgeEgress, blockedNetworks }, quiet, routing).make(
      a.id,
      specOf(a.id, A),
    )
    expect(await fromInside(OUTSIDE6, 80)).toBe('no')
    expect(await fromInside(ROUTER6, 80)).toBe(`caller ${A}`)
    await filter([])
    expect(await fromInside(OUTSIDE6, 80)).toBe(`caller ${A}`)
  })

  test('default: without the allowance of these tests the networks for documentation are out of reach', async () => {
    await createMachineNetworks(defaultEgress, quiet, routing).make(a.id, specOf(a.id, A))
    expect(await fromInside(OUTSIDE6, 80)).toBe('no')
    await filter([])
    expect(await fromInside(OUTSIDE6, 80)).toBe(`caller ${A}`)
  })

  test('behavior: neither the host nor another guest is reached, at none of its addresses', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).end('secret\n')).listen(0, '::')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const { stdout } = await runCommand('ip', ['-j', '-6', 'address'])
    const own = (JSON.parse(stdout) as { addr_info: { local: string; scope: string }[] }[]).flatMap(
      ({ addr_info }) => addr_info.filter(({ scope }) => scope !== 'link').map(({ local }) => local),
    )
    expect(own).toEqual(expect.arrayContaining(['::1', HOST6]))
    try {
      for (const address of own) expect([address, await fromHere(address, port)]).toEqual([address, 'secret'])
      const tried = [...own.map((address) => [address, port] as const), ['fe80::1%eth0', port] as const]
      const seen = await Promise.all([...tried, [B, 22] as const].map((each) => fromInside(...each)))
      expect(new Set(seen)).toEqual(new Set(['no']))
    } finally {
      server.close()
    }
  })

  test('behavior: what the guest sends from another address is dropped at its tap', async () => {
    const dropped = async () => {
      const { stdout } = await runCommand('nsenter', [
        ...[`--net=${namespaceFile(a.id)}`, 'nft', '-j', 'list', 'table', 'netdev', 'coinrack'],
      ])
      return Number([...stdout.matchAll(/"packets": (\d+)/g)].at(-1)![1])
    }
    for (const address of [B, FREE, PRIVATE6]) {
      const before = await dropped()
      await a.guest.run(`ip address add ${address}/128 dev eth0 nodad`)
      const get = `curl -s -m 2 --http0.9 --interface ${address} 'http://[${OUTSIDE6}]/'`
      expect([address, await a.guest.run(get)]).toEqual([address, 'no'])
      expect(await dropped()).toBeGreaterThan(before)
      await a.guest.run(`ip address del ${address}/128 dev eth0`)
    }
    expect(await fromInside(OUTSIDE6, 80)).toBe(`caller ${A}`)
  })

  test('behavior: the firewall decides about both families at once', async () => {
    await filter(
      [
        { action: 'allow', direction: 'in', protocol: 'tcp', ports: ['22'], cidr: OUTSIDE6 },
        { action: 'deny', direction: 'out', protocol: 'tcp', ports: ['80'], cidr: BLOCKED },
      ],
      { defaultIn: 'deny' },
    )
    expect(await fromOutside(A, 22, OUTSIDE6)).toBe(`SSH-2.0 ${OUTSIDE6}`)
    expect(await fromOutside(A, 22, ROUTER6)).toBe('no')
    expect(await fromOutside(A, 8022, OUTSIDE6)).toBe('no')
    expect(await fromHere('127.0.0.7', 1_022)).toBe('no')
    expect(await fromInside(OUTSIDE6, 80)).toBe('no')
    expect(await fromInside(ROUTER6, 80)).toBe(`caller ${A}`)
    await filter([])
    expect(await fromOutside(A, 8022, OUTSIDE6)).toBe(`SSH-2.0 ${OUTSIDE6}`)
    expect(await fromHere('127.0.0.7', 1_022)).toMatch(/^SSH/)
  })

  test('behavior: traffic is counted; twice is once; a neighbour does not become a router', async () => {
    const before = (await networks.traffic(a.id))!
    await filter([])
    await a.guest.run(`head -c 4000 /dev/zero >/dev/udp/${OUTSIDE6}/9`)
    // It leaves once the guest knows its neighbour.
    const sent = async () => (await networks.traffic(a.id))!.txBytes - before.txBytes
    await expect.poll(sent, { timeout: 20_000 }).toBeGreaterThan(4_000)
    expect((await readFile('/proc/sys/net/ipv6/conf/all/forwarding', 'utf8')).trim()).toBe('1')
    const { stdout } = await runCommand('nft', ['list', 'chain', 'inet', 'coinrack_host', 'forward'])
    expect(stdout).toContain('iifname "cr-*" ip6 saddr . iifname != @addresses6 drop')
  })

  test('error: an address that leads to another machine is not taken from it', async () => {
    const third = makeVpsId()
    const spec = { ...specOf(third, A), listen: { host: '127.0.0.7', port: 1_024 } }
    await expect(networks.make(third, spec)).rejects.toMatchObject({ code: 'guest_failed' })
    await networks.remove(third)
    expect(await networkTraces(third)).toEqual([])
    expect(await fromOutside(A, 22, OUTSIDE6)).toBe(`SSH-2.0 ${OUTSIDE6}`)
  })

  test('behavior: remove leaves nothing of the address, and the other as it is', async () => {
    expect(await addressTraces(A)).toEqual([
      expect.stringContaining('via fe80::2'),
      expect.stringContaining(`dev ${BRIDGE} proxy`),
      expect.stringContaining('. "cr-'),
    ])
    await networks.remove(a.id)
    expect(await networkTraces(a.id)).toEqual([])
    expect(await addressTraces(A)).toEqual([])
    expect(await fromOutside(A, 22, OUTSIDE6)).toBe('no')
    expect(await fromOutside(B, 22, OUTSIDE6)).toBe(`SSH-2.0 ${OUTSIDE6}`)
  })
})
