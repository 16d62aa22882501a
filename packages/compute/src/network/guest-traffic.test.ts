import { once } from 'node:events'
import { createServer } from 'node:net'
import { freePort } from '@coinrack/host/free-port.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { macAddress } from '../machine/command-line.ts'
import { type FirewallRule, type NetworkPolicy, openPolicy } from '../ports/network-policy.ts'
import type { SshAddress } from '../ports/vps-driver.ts'
import { makeVpsId } from '../testing.ts'
import { linkAddresses, namespaceFile } from './addresses.ts'
import { slotOf } from './link-slots.ts'
import { createMachineNetworks, type NetworkSpec } from './machine-networks.ts'
import { defaultEgress } from './machine-ruleset.ts'
import { asProcessOf, networkTraces } from './testing.ts'
import { type GuestStandIn, startGuestStandIn } from './testing-guest.ts'
import {
  ELSEWHERE,
  fromHost,
  fromWorld,
  HOST,
  INTERNET,
  METADATA,
  PRIVATE,
  startWorld,
  worldEgress,
} from './testing-world.ts'

/** Real networks and rules, with namespaces in the place of guests. */

const LIMIT_MBIT = 8
const makeNetworks = (bandwidthMbit = LIMIT_MBIT) =>
  createMachineNetworks({ ...worldEgress, bandwidthMbit }, { info: () => {} })
const networks = makeNetworks()
/** Stands for the user of a machine's QEMU. */
const OWN = { uid: 2_000_070_001, gid: 2_000_070_001 }
const possible = await networks.isPossible()

describe.skipIf(!possible)('what reaches a guest, and what it reaches', { timeout: 120_000 }, () => {
  let a: { id: string; spec: NetworkSpec & { listen: SshAddress }; guest: GuestStandIn }
  let b: typeof a
  let endWorld: () => Promise<void>

  const make = async (name: string) => {
    const id = makeVpsId()
    const listen = { host: '0.0.0.0', port: await freePort() }
    const spec = { macAddress: macAddress(id), listen, policy: openPolicy }
    await networks.make(id, spec)
    return { id, spec, guest: await startGuestStandIn(`cr${name}${process.pid}`, id, spec.macAddress) }
  }
  const apply = (policy: NetworkPolicy) => networks.make(a.id, { ...a.spec, policy })
  const filter = (rules: FirewallRule[], change = {}) =>
    apply({ firewall: { ...openPolicy.firewall, rules, ...change }, ports: [] })
  const fromInside = (host: string, port: number) =>
    a.guest.run(`timeout 3 bash -c 'head -c 30 </dev/tcp/${host}/${port}'`)

  beforeAll(async () => {
    endWorld = await startWorld()
    a = await make('a')
    b = await make('b')
    for (const { spec } of [a, b]) while ((await fromHost('127.0.0.1', spec.listen.port)) === 'no') {}
  })
  afterAll(async () => {
    for (const one of [a, b]) {
      await one?.guest.end()
      if (one) await networks.remove(one.id)
    }
    await endWorld()
  })

  test('default: SSH at every address of the host, from itself and from beyond it', async () => {
    const { port } = a.spec.listen
    for (const address of ['127.0.0.1', HOST]) expect(await fromHost(address, port)).toBe('SSH-2.0')
    expect(await fromWorld(HOST, port)).toBe('SSH-2.0')
    expect(await fromWorld(HOST, b.spec.listen.port)).toBe('SSH-2.0')
  })

  test('default: the guest reaches the internet as its host, and its resolver in a private network', async () => {
    expect(await fromInside(INTERNET, 80)).toBe(`caller ${HOST}`)
    // One query for the address of "a." in the form of RFC 1035.
    const query =
      '\\x00\\x07\\x01\\x00\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x01a\\x00\\x00\\x01\\x00\\x01'
    const ask = `exec 5<>/dev/udp/10.0.2.3/53; printf '${query}' >&5; timeout 3 head -c 35 <&5 | tail -c 4 | od -An -tu1`
    expect((await a.guest.run(ask)).split(/\s+/).join('.')).toBe(INTERNET)
  })

  test('behavior: private networks, the metadata address and ports of mail are out of reach', async () => {
    for (const [host, port] of [
      [PRIVATE, 80],
      [METADATA, 80],
      [INTERNET, 25],
      [INTERNET, 465],
      [INTERNET, 587],
    ] as const) {
      expect([host, port, await fromHost(host, port)]).toEqual([host, port, 'caller '])
      expect([host, port, await fromInside(host, port)]).toEqual([host, port, 'no'])
    }
  })

  test('default: without the allowance of these tests their internet, TEST-NET-2 and 3, is out of reach', async () => {
    const egress = { ...defaultEgress, resolvers: [PRIVATE] }
    await createMachineNetworks(egress, { info: () => {} }).make(a.id, a.spec)
    expect(await fromHost(ELSEWHERE, 80)).toBe('caller ')
    expect([await fromInside(INTERNET, 80), await fromInside(ELSEWHERE, 80)]).toEqual(['no', 'no'])
    await networks.make(a.id, a.spec)
    expect(await fromInside(ELSEWHERE, 80)).toBe(`caller ${HOST}`)
  })

  test('behavior: no service of the host is reached, at none of its addresses', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).end('secret\n')).listen(0, '0.0.0.0')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const { stdout } = await runCommand('ip', ['-j', '-4', 'address'])
    const own = (JSON.parse(stdout) as { addr_info: { local: string }[] }[]).flatMap(({ addr_info }) =>
      addr_info.map(({ local }) => local),
    )
    const { host: linkEnd } = linkAddresses((await slotOf(a.id))!)
    expect(own).toEqual(expect.arrayContaining(['127.0.0.1', HOST, linkEnd]))
    try {
      for (const address of own)
        expect([address, await fromHost(address, port)]).toEqual([address, 'secret\n'])
      const tried = [...own, '10.0.2.2', '10.0.2.3']
      const seen = await Promise.all(tried.map((address) => fromInside(address, port)))
      expect(seen).toEqual(tried.map(() => 'no'))
    } finally {
      server.close()
    }
  })

  test("error: a process of the machine's user in its namespace opens no connection of its own", async () => {
    const server = createServer((socket) => socket.on('error', () => {}).end('secret\n')).listen(0, '0.0.0.0')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const { host: linkEnd, machine } = linkAddresses((await slotOf(b.id))!)
    try {
      const tried = [
        ...([
          [METADATA, 80],
          [PRIVATE, 80],
          [INTERNET, 25],
          [INTERNET, 80],
        ] as const),
        ...([
          [HOST, port],
          [linkEnd, port],
          [machine, 22],
        ] as const),
      ]
      const all = async (reach: (host: string, to: number) => Promise<string>) =>
        Promise.all(tried.map(async ([host, to]) => `${host} ${to} ${await reach(host, to)}`))
      const no = tried.map(([host, to]) => `${host} ${to} no`)
      expect((await all(fromHost)).filter((line) => no.includes(line))).toEqual([])
      expect(await all((host, to) => asProcessOf(namespaceFile(a.id), OWN, host, to))).toEqual(no)
      expect(await asProcessOf(namespaceFile(a.id), OWN, PRIVATE, 53, 'udp')).toBe('no')
    } finally {
      server.close()
    }
    expect(await fromInside(INTERNET, 80)).toBe(`caller ${HOST}`)
  })

  test('behavior: no other guest is reached, neither by its link nor by its public port', async () => {
    const link = linkAddresses((await slotOf(b.id))!).machine
    expect(await fromHost(link, 22)).toBe('SSH-2.0')
    expect(await fromInside(link, 22)).toBe('no')
    expect(await fromInside(HOST, b.spec.listen.port)).toBe('no')
  })

  test('behavior: what the guest sends under another address is dropped at its tap', async () => {
    const dropped = async () => {
      const { stdout } = await runCommand('nsenter', [
        ...[`--net=${namespaceFile(a.id)}`, 'nft', '-j', 'list', 'table', 'netdev', 'coinrack'],
      ])
      const [mac, ip] = [...stdout.matchAll(/"packets": (\d+)/g)].map(([, packets]) => Number(packets))
      return { mac: mac!, ip: ip! }
    }
    const before = await dropped()
    const get = `http://${INTERNET}/`
    await a.guest.run('ip address add 10.0.2.77/24 dev eth0')
    expect(await a.guest.run(`curl -s -m 2 --http0.9 --interface 10.0.2.77 ${get}`)).toBe('no')
    expect((await dropped()).ip).toBeGreaterThan(before.ip)
    await a.guest.run('ip address del 10.0.2.77/24 dev eth0; ip link set eth0 address 52:54:00:aa:bb:cc')
    expect(await fromInside(INTERNET, 80)).toBe('no')
    expect((await dropped()).mac).toBeGreaterThan(before.mac)
    await a.guest.run(`ip link set eth0 address ${a.spec.macAddress}`)
    expect(await fromInside(INTERNET, 80)).toBe(`caller ${HOST}`)
  })

  test('behavior: bandwidth is limited in the proportion that was set, and traffic is counted', async () => {
    const before = (await networks.traffic(a.id))!
    const megabits = async () => {
      const from = performance.now()
      await a.guest.run(`head -c 3145728 </dev/tcp/${INTERNET}/9000 | wc -c`)
      return 25.17 / ((performance.now() - from) / 1000)
    }
    const slow = await megabits()
    await makeNetworks(LIMIT_MBIT * 2).make(a.id, a.spec)
    const fast = await megabits()
    await networks.make(a.id, a.spec)
    expect(slow).toBeLessThan(LIMIT_MBIT * 1.15)
    expect(fast / slow).toBeGreaterThan(1.4)
    expect(fast / slow).toBeLessThan(2.4)
    const { rxBytes, txBytes } = (await networks.traffic(a.id))!
    // Two downloads of three MiB; what was sent are acknowledgements.
    expect(rxBytes - before.rxBytes).toBeGreaterThan(6 * 1024 ** 2)
    expect(rxBytes - before.rxBytes).toBeLessThan(9 * 1024 ** 2)
    expect(txBytes).toBeGreaterThan(before.txBytes)
    expect(txBytes).toBeLessThan(rxBytes)
  })

  test('behavior: the firewall decides both ways at once, and the first rule that fits', async () => {
    const { port } = a.spec.listen
    await filter([
      { action: 'allow', direction: 'in', protocol: 'tcp', ports: ['22'], cidr: '100.96.0.1' },
      { action: 'deny', direction: 'in', protocol: 'tcp', ports: ['20-30'] },
      { action: 'deny', direction: 'out', protocol: 'tcp', ports: ['80'], cidr: INTERNET },
    ])
    expect(await fromWorld(HOST, port)).toBe('no')
    expect(await fromHost('127.0.0.1', port)).toBe('SSH-2.0')
    expect(await fromInside(INTERNET, 80)).toBe('no')
    expect(await fromInside(INTERNET, 81)).toBe(`caller ${HOST}`)
  })

  test('behavior: a guest that lets nobody in is still seen by the service, and can be opened again', async () => {
    const { port } = a.spec.listen
    await filter([], { defaultIn: 'deny', defaultOut: 'deny' })
    expect(await fromWorld(HOST, port)).toBe('no')
    expect(await fromHost('127.0.0.1', port)).toBe('no')
    expect(await fromInside(INTERNET, 81)).toBe('no')
    const look = (await networks.lookAt(a.id))!
    expect(await fromHost(look.host, look.port)).toBe('SSH-2.0')
    await filter([])
    expect(await fromWorld(HOST, port)).toBe('SSH-2.0')
  })

  test('behavior: a further port leads to the guest while it is open', async () => {
    const publicPort = await freePort()
    expect(await fromWorld(HOST, publicPort)).toBe('no')
    await apply({ ...openPolicy, ports: [{ protocol: 'tcp', port: 8022, publicPort }] })
    expect(await fromWorld(HOST, publicPort)).toBe('SSH-2.0')
    expect(await fromHost('127.0.0.1', publicPort)).toBe('SSH-2.0')
    await apply(openPolicy)
    expect(await fromWorld(HOST, publicPort)).toBe('no')
  })

  test('behavior: remove leaves nothing of one, and the other as it is', async () => {
    await networks.remove(a.id)
    expect(await networkTraces(a.id)).toEqual([])
    expect(await fromWorld(HOST, a.spec.listen.port)).toBe('no')
    expect(await fromWorld(HOST, b.spec.listen.port)).toBe('SSH-2.0')
  })
})
