import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { answersSsh } from '@coinrack/host/answers-ssh.ts'
import { freePort } from '@coinrack/host/free-port.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createQemuDriver, type QemuDriver } from '../local-vps/driver.ts'
import { makeSshAccess, type SshAccess } from '../local-vps/testing.ts'
import { machineAt, runningPid } from '../machine/machine.ts'
import { type FirewallRule, openPolicy } from '../ports/network-policy.ts'
import { linkAddresses, namespaceFile } from './addresses.ts'
import { slotOf } from './link-slots.ts'
import { asProcess, networkTraces } from './testing.ts'
import {
  fromHost,
  fromWorld,
  HOST,
  INTERNET,
  METADATA,
  PRIVATE,
  startWorld,
  worldEgress,
} from './testing-world.ts'

/** Two real guests on this host, and a world around it. What needs no boot is in `guest-traffic.test.ts`. */

const IMAGE = process.env.COINRACK_TEST_IMAGE ?? 'debian-12'
const cacheFolder =
  process.env.COINRACK_CACHE ??
  (process.getuid?.() === 0 ? '/var/cache/coinrack' : join(homedir(), '.cache/coinrack'))
/** Not this host's own: served on all of its addresses. */
const PUBLIC = '192.0.2.77'
const LIMIT_MBIT = 8

describe.skipIf(process.getuid?.() !== 0)("a machine's own network", { timeout: 8 * 60_000 }, () => {
  let dataFolder: string
  let driver: QemuDriver
  let a: SshAccess
  let b: SshAccess
  let stopWorld: () => Promise<void>

  const newDriver = async (bandwidthMbit = LIMIT_MBIT) =>
    createQemuDriver({
      dataFolder,
      cacheFolder,
      user: await serviceUser(),
      clock: { now: () => new Date() },
      log: { info: () => {} },
      egress: { ...worldEgress, bandwidthMbit },
    })
  const untilReady = async (id: string) => {
    while (!(await driver.observe(id)).sshReady) await sleep(300)
  }
  /** The text that a connection out of the guest reads, or `no`. */
  const fromInside = (host: string, port: number) =>
    a.byKey(`timeout 5 bash -c 'head -c 30 </dev/tcp/${host}/${port}' 2>/dev/null || echo no`)
  const apply = (rules: FirewallRule[], change = {}) =>
    driver.applyNetwork(a.spec.id, { firewall: { ...openPolicy.firewall, rules, ...change }, ports: [] })

  beforeAll(async () => {
    stopWorld = await startWorld()
    dataFolder = await mkdtemp(join(tmpdir(), 'coinrack-net-'))
    await runCommand('chmod', ['755', dataFolder])
    driver = await newDriver()
    await driver.prepare(() => {})
    a = await makeSshAccess({ image: IMAGE, vcpus: 2, sshAddress: { host: PUBLIC, port: await freePort() } })
    b = await makeSshAccess({ image: IMAGE, vcpus: 2, sshAddress: { host: PUBLIC, port: await freePort() } })
    for (const { spec } of [a, b]) {
      await driver.ensure(spec)
      await untilReady(spec.id)
    }
  }, 15 * 60_000)

  afterAll(async () => {
    for (const access of [a, b]) if (access) await driver.destroy(access.spec.id)
    await stopWorld?.()
    await rm(dataFolder, { recursive: true })
  })

  test('default: SSH at the printed address, from the host itself and from beyond it', async () => {
    const { port } = a.spec.sshAddress
    expect(await a.byKey('hostname')).toBe(a.spec.hostname)
    expect(await fromHost('127.0.0.1', port)).toBe('SSH-2.0')
    expect(await fromHost(HOST, port)).toBe('SSH-2.0')
    expect(await fromWorld(HOST, port)).toBe('SSH-2.0')
    expect(await fromWorld(HOST, b.spec.sshAddress.port)).toBe('SSH-2.0')
  })

  test('default: the guest reaches the internet, and resolves names', async () => {
    expect(await fromInside(INTERNET, 80)).toBe(`caller ${HOST}`)
    expect(await a.byKey('getent ahostsv4 any.example.net | head -1')).toContain(INTERNET)
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

  test("error: QEMU's own user opens no connection from its namespace, also not where its guest may", async () => {
    const pid = (await runningPid(machineAt(join(dataFolder, 'machines'), a.spec.id)))!
    const { host: linkEnd } = linkAddresses((await slotOf(a.spec.id))!)
    const server = createServer().listen(0, '0.0.0.0')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const tried: [string, number, 'tcp' | 'udp'][] = [
      ...[METADATA, PRIVATE, INTERNET].map((host): [string, number, 'tcp'] => [host, 80, 'tcp']),
      ...[HOST, linkEnd].map((host): [string, number, 'tcp'] => [host, port, 'tcp']),
      ...([
        [INTERNET, 25, 'tcp'],
        [PRIVATE, 53, 'udp'],
      ] as [string, number, 'tcp' | 'udp'][]),
    ]
    const seen = await Promise.all(tried.map(async (one) => [...one, await asProcess(pid, ...one)]))
    server.close()
    expect(seen).toEqual(tried.map((one) => [...one, 'no']))
  })

  test('behavior: no service of the host is reached, at none of its addresses', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).end('secret\n')).listen(0, '0.0.0.0')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const { host: linkEnd } = linkAddresses((await slotOf(a.spec.id))!)
    const { stdout } = await runCommand('ip', ['-j', '-4', 'address'])
    const own = (JSON.parse(stdout) as { addr_info: { local: string }[] }[]).flatMap(({ addr_info }) =>
      addr_info.map(({ local }) => local),
    )
    expect(own).toEqual(expect.arrayContaining(['127.0.0.1', HOST, linkEnd]))
    try {
      for (const address of own)
        expect([address, await fromHost(address, port)]).toEqual([address, 'secret\n'])
      for (const address of [...own, '10.0.2.2', '10.0.2.3'])
        expect([address, await fromInside(address, port)]).toEqual([address, 'no'])
    } finally {
      server.close()
    }
  })

  test('behavior: no other guest is reached, neither by its link nor by its public port', async () => {
    const link = linkAddresses((await slotOf(b.spec.id))!).machine
    expect(await fromHost(link, 22)).toBe('SSH-2.0')
    expect(await fromInside(link, 22)).toBe('no')
    expect(await fromInside(HOST, b.spec.sshAddress.port)).toBe('no')
    expect(await fromInside(PUBLIC, b.spec.sshAddress.port)).toBe('no')
  })

  test('behavior: what the guest sends under another address is dropped at its tap', async () => {
    const dropped = async () => {
      const { stdout } = await runCommand('nsenter', [
        ...[`--net=${namespaceFile(a.spec.id)}`, 'nft', '-j', 'list', 'table', 'netdev', 'coinrack'],
      ])
      const counters = [...stdout.matchAll(/"counter": \{"packets": (\d+)/g)].map(([, packets]) =>
        Number(packets),
      )
      return { mac: counters[0]!, ip: counters[1]! }
    }
    const before = await dropped()
    const device = await a.byKey(`ip -o -4 route show default | awk '{print $5}'`)
    const read = `timeout 4 bash -c 'cat </dev/tcp/${INTERNET}/80' || echo no`
    await a.byKey(`ip address add 10.0.2.77/24 dev ${device}; ping -c 2 -W 1 -I 10.0.2.77 ${INTERNET}; true`)
    expect((await dropped()).ip).toBeGreaterThan(before.ip)
    const { mac } = await dropped()
    await a.byKey(
      `old=$(cat /sys/class/net/${device}/address); ip link set ${device} address 52:54:00:aa:bb:cc; ` +
        `(${read}) >/root/spoofed 2>/dev/null; ip link set ${device} address $old; ip address del 10.0.2.77/24 dev ${device}; true`,
    )
    expect(await a.byKey('cat /root/spoofed')).toBe('no')
    expect((await dropped()).mac).toBeGreaterThan(mac)
    expect(await fromInside(INTERNET, 80)).toBe(`caller ${HOST}`)
  })

  test('behavior: bandwidth is limited both ways, in the proportion that was set', async () => {
    const megabits = async (command: string) => {
      const seconds = Number(await a.byKey(`TIMEFORMAT=%R; { time bash -c '${command}'; } 2>&1 | tail -1`))
      return (3 * 8 * 1.048576) / seconds
    }
    const download = `head -c 3145728 </dev/tcp/${INTERNET}/9000 >/dev/null`
    const slow = await megabits(download)
    const faster = await newDriver(LIMIT_MBIT * 2)
    await faster.applyNetwork(a.spec.id, openPolicy)
    const fast = await megabits(download)
    expect(slow).toBeGreaterThan(LIMIT_MBIT * 0.6)
    expect(slow).toBeLessThan(LIMIT_MBIT * 1.15)
    expect(fast / slow).toBeGreaterThan(1.4)
    expect(fast / slow).toBeLessThan(2.4)
    const uplink = await runCommand('tc', ['-n', `coinrack-${a.spec.id}`, 'qdisc', 'show', 'dev', 'uplink'])
    expect(uplink.stdout).toContain('rate 16Mbit')
  })

  test('default: traffic is counted', async () => {
    const { rxBytes, txBytes } = (await driver.observe(a.spec.id)).metrics!
    // Two downloads of three MiB.
    expect(rxBytes).toBeGreaterThan(6 * 1024 ** 2)
    expect(rxBytes).toBeLessThan(14 * 1024 ** 2)
    expect(txBytes).toBeGreaterThan(10_000)
    expect(txBytes).toBeLessThan(rxBytes!)
  })

  test('behavior: the firewall decides both ways at once, and the first rule that fits', async () => {
    const { port } = a.spec.sshAddress
    await apply([
      { action: 'allow', direction: 'in', protocol: 'tcp', ports: ['22'], cidr: '100.96.0.1' },
      { action: 'deny', direction: 'in', protocol: 'tcp', ports: ['20-30'], cidr: '198.51.100.0/24' },
      { action: 'deny', direction: 'out', protocol: 'tcp', ports: ['80'], cidr: INTERNET },
    ])
    expect(await fromWorld(HOST, port)).toBe('no')
    expect(await fromHost('127.0.0.1', port)).toBe('SSH-2.0')
    expect(await fromInside(INTERNET, 80)).toBe('no')
    expect(await fromInside(INTERNET, 81)).toBe(`caller ${HOST}`)
  })

  test('behavior: the firewall holds over a reboot, and for another driver', async () => {
    await driver.power(a.spec.id, 'reboot')
    driver = await newDriver()
    await untilReady(a.spec.id)
    expect(await fromWorld(HOST, a.spec.sshAddress.port)).toBe('no')
    expect(await fromInside(INTERNET, 80)).toBe('no')
    expect(await fromInside(INTERNET, 81)).toBe(`caller ${HOST}`)
  })

  test('behavior: a guest that lets nobody in is still seen by the service, and can be opened again', async () => {
    await apply([], { defaultIn: 'deny', defaultOut: 'deny' })
    expect(await fromWorld(HOST, a.spec.sshAddress.port)).toBe('no')
    expect(await fromHost('127.0.0.1', a.spec.sshAddress.port)).toBe('no')
    expect(await (await newDriver()).observe(a.spec.id)).toMatchObject({ sshReady: true })
    await apply([])
    expect(await fromWorld(HOST, a.spec.sshAddress.port)).toBe('SSH-2.0')
  })

  test('behavior: a further port leads to the guest while it is open', async () => {
    const publicPort = await freePort()
    await a.byKey('mkdir -p /run/sshd; /usr/sbin/sshd -p 8022')
    expect(await fromWorld(HOST, publicPort)).toBe('no')
    const ports = [{ protocol: 'tcp', port: 8022, publicPort } as const]
    await driver.applyNetwork(a.spec.id, { ...openPolicy, ports })
    expect(await fromWorld(HOST, publicPort)).toBe('SSH-2.0')
    expect(await answersSsh({ host: '127.0.0.1', port: publicPort })).toBe(true)
    await driver.applyNetwork(a.spec.id, openPolicy)
    expect(await fromWorld(HOST, publicPort)).toBe('no')
  })

  test('behavior: destroy leaves nothing', async () => {
    await driver.destroy(a.spec.id)
    expect(await networkTraces(a.spec.id)).toEqual([])
    expect(await fromWorld(HOST, b.spec.sshAddress.port)).toBe('SSH-2.0')
  })
})
