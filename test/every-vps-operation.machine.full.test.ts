import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { addressTraces } from '@coinrack/compute/network/testing.ts'
import {
  BRIDGE,
  bridgeEgress,
  fromOutside,
  HOST6,
  OUTSIDE6,
  startBridgeWorld,
} from '@coinrack/compute/network/testing-bridge-world.ts'
import { operationList } from '@coinrack/contract/index.ts'
import type { Client } from '@coinrack/sdk/index.ts'
import { reverseName } from '@coinrack/server/vps/network/rdns/reverse-name.ts'
import {
  startNameServer,
  type TestNameServer,
} from '@coinrack/server/vps/network/rdns/testing-name-server.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { Subject } from './support/interruptions.ts'
import { byPassword, ended, orderVps, revealed, tracesOf } from './support/one-vps.ts'
import { chargesOf, newCustomer } from './support/order-life.ts'
import { type RunningService, startService } from './support/running-service.ts'

/*
 * Every operation on orders and VPS, on one real machine, each looked at from inside it, or from a second machine, or
 * from beyond its router. The last test asks the contract whether one was forgotten.
 */

vi.setConfig({ testTimeout: 10 * 60_000 })

const DEBIAN_13 = 2
const NAME = 'web.example.net'
const key = {
  algorithm: 'hmac-sha256',
  name: 'coinrack',
  secret: Buffer.from('a key of thirty-two bytes for us').toString('base64'),
}
const BOOT_ID = 'cat /proc/sys/kernel/random/boot_id'

const called = new Set<string>()
/** The client, which writes down what is called. */
const recorded = (client: Client): Client =>
  new Proxy(client, {
    get(target, name: keyof Client) {
      called.add(name)
      return target[name]
    },
  })

let service: RunningService
let folder: string
let names: TestNameServer
let endWorld: () => Promise<void>
let customer: Client
let vps: Subject
let peer: Subject
let id: string
let ipv6: string

beforeAll(async () => {
  endWorld = await startBridgeWorld()
  names = await startNameServer(key, {
    'f.f.f.f.8.b.d.0.1.0.0.2.ip6.arpa.': [],
    // The first two addresses that are given out.
    'example.net.': ['web AAAA 2001:db8:ffff::100', 'web AAAA 2001:db8:ffff::101'],
  })
  service = await startService({
    COINRACK_GUEST_BLOCKED_NETWORKS: bridgeEgress.blockedNetworks.join(', '),
    COINRACK_ADDRESS_BRIDGE: BRIDGE,
    COINRACK_ADDRESS_IPV6: '2001:db8:ffff::/64',
    COINRACK_RDNS_SERVER: `127.0.0.1:${names.port}`,
    COINRACK_RDNS_KEY: `${key.algorithm}:${key.name}:${key.secret}`,
    COINRACK_RDNS_RESOLVER: `127.0.0.1:${names.port}`,
  })
  folder = await mkdtemp('/tmp/coinrack-every-')
  customer = recorded(await newCustomer(service, '100'))
  const folders = ['web', 'peer'].map((name) => join(folder, name))
  for (const each of folders) await mkdir(each)
  ;[vps, peer] = (await Promise.all(folders.map((each) => orderVps(service, each, DEBIAN_13, customer)))) as [
    Subject,
    Subject,
  ]
  id = vps.id
  ipv6 = (await shown()).ipv6!
}, 40 * 60_000)

afterAll(async () => {
  await service?.stop()
  await names?.close()
  await endWorld?.()
  if (folder) await rm(folder, { recursive: true, force: true })
}, 180_000)

const shown = () => customer.getVpsStatus({ service_id: id, reveal: false })
const succeeds = async (operation: { id: string }) =>
  expect(await ended(vps, operation)).toMatchObject({ status: 'succeeded', error: null })
const settled = async () =>
  (await customer.listSnapshots({ service_id: id, wait: 'settled', timeout: 50 })).items
const power = async (action: 'start' | 'stop' | 'reboot' | 'force_stop' | 'reset') =>
  succeeds((await customer.powerVps({ service_id: id, action })).operation)

/** Whether a TCP connection to a port of this host gets an answer, and which. */
async function fromHost(port: number): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, timeout: 5_000 })
  socket.on('error', () => {}).on('timeout', () => socket.destroy())
  let answer = ''
  socket.on('data', (bytes) => {
    answer += bytes
  })
  await new Promise((resolve) => socket.once('close', resolve))
  return answer.trim() || 'no'
}
/** Tells every client that connects who it is. */
const listen = (port: number) =>
  `systemd-run -q --unit answer-${port} python3 -c 'import socket
s = socket.create_server(("", ${port}), family=socket.AF_INET6, dualstack_ipv6=True)
while True:
    c, _ = s.accept(); c.sendall(b"this is web\\n"); c.close()'; until ss -ltn | grep -q :${port}; do sleep 0.2; done`
const reach = (host: string, port: number) =>
  `timeout 10 bash -c 'head -c 60 </dev/tcp/${host}/${port}' 2>/dev/null || echo no`

test('default: an order is what was quoted, and the machine is what was ordered', async () => {
  const plans = await customer.listPlans({})
  const nano = plans.items.find(({ slug }) => slug === 'nano')!
  const quote = await customer.orderVps({ product: 'nano', os_id: DEBIAN_13, dry_run: true })
  expect(quote).toMatchObject({ status: 'quote', service_id: null, total: nano.price })
  const { items } = await customer.listOrders({})
  expect(items).toHaveLength(2)
  const order = items.find(({ service_id }) => service_id === id)!
  expect(await customer.getOrder({ order_id: order.id })).toMatchObject({
    status: 'active',
    total: nano.price,
  })
  expect((await customer.listVps({})).items.map((each) => each.id).sort()).toEqual([id, peer.id].sort())
  const look =
    ". /etc/os-release; echo $VERSION_CODENAME; hostname; nproc; awk '/MemTotal/{print ($2 > 400000)}' /proc/meminfo"
  expect(await vps.inside(look)).toBe(`trixie\nweb\n${Math.max(1, nano.vcpus)}\n1`)
  expect(Number(await vps.inside('df --output=size -BG / | tail -1 | tr -dc 0-9'))).toBeGreaterThan(
    nano.disk_gb * 0.9,
  )
})

test('default: commands run and files go in and out without SSH', async () => {
  await customer.writeVpsFile({ service_id: id, path: '/root/kept', content: 'from outside\n' })
  expect(await vps.inside('cat /root/kept')).toBe('from outside')
  await vps.inside('echo from inside >/root/other')
  expect(await customer.readVpsFile({ service_id: id, path: '/root/other' })).toMatchObject({
    content: 'from inside\n',
    eof: true,
  })
  expect(await customer.runOnVps({ service_id: id, command: 'hostname; id -un' })).toMatchObject({
    stdout: 'web\nroot\n',
    exit_code: 0,
  })
})

test('default: a port leads in while it is open', async () => {
  await vps.inside(listen(8080))
  const opened = await customer.openPort({ service_id: id, port: 8080 })
  await vi.waitUntil(async () => (await fromHost(opened.public_port)) === 'this is web', { timeout: 20_000 })
  expect((await customer.listPorts({ service_id: id })).items).toEqual([opened])
  expect(await customer.closePort({ service_id: id, public_port: opened.public_port })).toEqual({
    closed: true,
  })
  await vi.waitUntil(async () => (await fromHost(opened.public_port)) === 'no', { timeout: 20_000 })
})

test('default: a firewall closes both ways, over a restart of the service and a reboot', async () => {
  expect(await fromOutside(ipv6, 8080, OUTSIDE6)).toBe('this is web')
  expect(await vps.inside(reach(OUTSIDE6, 80))).toBe(`caller ${ipv6}`)
  const set = async (rules: Parameters<Client['setFirewall']>[0]['rules']) => {
    await customer.setFirewall({ service_id: id, rules })
    await vi.waitUntil(async () => (await customer.getFirewall({ service_id: id })).applied, {
      timeout: 30_000,
    })
  }
  await set([
    { action: 'deny', direction: 'in', protocol: 'tcp', ports: ['8080'] },
    { action: 'deny', direction: 'out', protocol: 'tcp', ports: ['80'] },
  ])
  const closed = async () => [await fromOutside(ipv6, 8080, OUTSIDE6), await vps.inside(reach(OUTSIDE6, 80))]
  expect(await closed()).toEqual(['no', 'no'])
  await service.kill()
  await service.start()
  await power('reboot')
  await vps.inside(listen(8080))
  expect(await closed()).toEqual(['no', 'no'])
  await set([])
  expect(await fromOutside(ipv6, 8080, OUTSIDE6)).toBe('this is web')
  expect(await vps.inside(reach(OUTSIDE6, 80))).toBe(`caller ${ipv6}`)
})

test('default: a second machine reaches nothing of it, and neither of them the service', async () => {
  const inner = (await vps.inside('hostname -I')).split(' ')
  expect(inner).toContain(ipv6)
  // At the addresses that both have, the peer reaches itself, where nothing listens.
  for (const address of inner) expect(await peer.inside(reach(address, 8080))).toBe('no')
  const { port } = new URL(service.origin)
  for (const host of ['127.0.0.1', '10.0.2.2', HOST6])
    expect(await vps.inside(reach(host, Number(port)))).toBe('no')
})

test('default: its address gets a name, which the name server tells, and loses it', async () => {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  resolver.setServers([`127.0.0.1:${names.port}`])
  const published = () => resolver.resolvePtr(reverseName(ipv6).slice(0, -1)).catch(() => [])
  await customer.setRdns({ service_id: id, hostname: NAME })
  await vi.waitUntil(async () => (await published())[0] === NAME, { timeout: 30_000, interval: 300 })
  await customer.setRdns({ service_id: id, hostname: null })
  await vi.waitUntil(async () => (await published()).length === 0, { timeout: 30_000, interval: 300 })
  await customer.setRdns({ service_id: id, hostname: NAME })
})

test('default: power in every way', async () => {
  for (const action of ['reboot', 'reset'] as const) {
    const before = await vps.inside(BOOT_ID)
    await power(action)
    await vi.waitUntil(async () => (await vps.inside(BOOT_ID)) !== before, {
      timeout: 180_000,
      interval: 500,
    })
  }
  for (const action of ['stop', 'force_stop'] as const) {
    await power(action)
    expect(await vps.guests()).toBe(0)
    expect(await shown()).toMatchObject({ status: 'stopped', ssh_ready: false })
    await power('start')
    expect(await vps.inside('cat /root/kept')).toBe('from outside')
  }
})

test('default: a new name and a new password', async () => {
  await succeeds((await customer.setHostname({ service_id: id, hostname: 'shop' })).operation)
  expect(await vps.inside('hostname; cat /etc/hostname')).toBe('shop\nshop')
  await succeeds((await customer.resetPassword({ service_id: id })).operation)
  expect(await byPassword(vps, folder, await revealed(vps), 'whoami; hostname')).toBe('root\nshop')
})

/** The output of a console until it matches. */
async function consoleSays(type: 'serial' | 'vnc', wanted: RegExp): Promise<string> {
  const { websocket_url } = await customer.openConsole({ service_id: id, type })
  const socket = new WebSocket(websocket_url, ['binary'], { origin: service.origin })
  let seen = ''
  socket.on('message', (bytes) => {
    seen += bytes
  })
  await once(socket, 'open')
  for (let attempt = 0; attempt < 30 && !wanted.test(seen); attempt++) {
    if (type === 'serial') socket.send(Buffer.from('\r'))
    await sleep(1_000)
  }
  socket.close()
  return seen
}

test('default: both consoles answer', async () => {
  expect(await consoleSays('serial', /shop login:/)).toMatch(/shop login:/)
  expect(await consoleSays('vnc', /RFB/)).toMatch(/^RFB 003\.008/)
})

test('default: a snapshot brings back what was on the disk and what ran', async () => {
  await vps.inside('echo before >/root/state; systemd-run -q --unit program sleep infinity; sync; echo ok')
  const { snapshot } = await customer.createSnapshot({ service_id: id, include_memory: true })
  expect(await settled()).toMatchObject([{ id: snapshot.id, status: 'ready', consistency: 'memory' }])
  await vps.inside('echo after >/root/state; systemctl stop program; sync; echo ok')
  await customer.restoreSnapshot({ service_id: id, snapshot_id: snapshot.id })
  expect(await settled()).toMatchObject([{ status: 'ready', failure_reason: null }])
  expect(await vps.inside('cat /root/state; systemctl is-active program')).toBe('before\nactive')
  await customer.deleteSnapshot({ service_id: id, snapshot_id: snapshot.id })
  expect(await settled()).toEqual([])
})

test('default: the rescue system sees the disk, and the machine comes back from it', async () => {
  await succeeds((await customer.rescueVps({ service_id: id, enabled: true })).operation)
  expect(await vps.inside('hostname; mount -o ro /dev/vdb1 /mnt; cat /mnt/root/kept; umount /mnt')).toBe(
    'rescue\nfrom outside',
  )
  await succeeds((await customer.rescueVps({ service_id: id, enabled: false })).operation)
  expect(await vps.inside('hostname')).toBe('shop')
})

test('default: it grows, and pays the difference', async () => {
  const { options } = await customer.getUpgradeOptions({ service_id: id })
  const target = options.find(({ target_plan }) => target_plan === 'small')!
  const { balance } = await customer.getBalance()
  const { charged, operation } = await customer.changePlan({
    service_id: id,
    target_plan: 'small',
    confirm: true,
  })
  await succeeds(operation)
  expect((await customer.getBalance()).balance).toBe(balance - charged)
  const sizes =
    "awk '/MemTotal/{print int($2/1024)}' /proc/meminfo; df --output=size -BG / | tail -1 | tr -dc 0-9"
  const [memoryMb, diskGb] = (await vps.inside(sizes)).split('\n').map(Number)
  expect(memoryMb).toBeGreaterThan(target.memory_mb * 0.8)
  expect(diskGb).toBeGreaterThan(target.disk_gb * 0.9)
})

test('default: what it used shows in its metrics', async () => {
  const { series } = await customer.getVpsMetrics({ service_id: id, range: '1h' })
  const points = Object.fromEntries(series.map((one) => [one.name, one.points.map(([, value]) => value!)]))
  expect(Math.max(...points.cpu_percent!)).toBeGreaterThan(0)
  expect(Math.max(...points.memory_used_mb!)).toBeGreaterThan(50)
  expect(Math.max(...points.rx_bytes!)).toBeGreaterThan(0)
})

test('default: reinstalled it is new, and its old disk can be had back', async () => {
  const before = await shown()
  await succeeds((await customer.reinstallVps({ service_id: id, os_id: 1, confirm: 'shop' })).operation)
  expect((await shown()).ssh).toEqual(before.ssh)
  expect(await vps.inside('. /etc/os-release; echo $VERSION_CODENAME; ls /root')).toBe('bookworm')
  const kept = (await settled()).find(({ reason }) => reason === 'reinstall')!
  await customer.restoreSnapshot({ service_id: id, snapshot_id: kept.id })
  await vi.waitUntil(async () => (await shown()).ssh_ready, { timeout: 300_000, interval: 1_000 })
  expect(await vps.inside('. /etc/os-release; echo $VERSION_CODENAME; cat /root/kept')).toBe(
    'trixie\nfrom outside',
  )
})

test('default: paid longer, renewed or not, and operated by somebody else', async () => {
  const before = (await shown()).billing!
  await customer.renewService({ service_id: id, months: 1 })
  const after = (await shown()).billing!
  expect(new Date(after.paid_until!).getTime()).toBeGreaterThan(new Date(before.paid_until!).getTime())
  await customer.setAutoRenew({ service_id: id, enabled: false })
  expect((await shown()).billing).toMatchObject({ auto_renew: false })
  expect(await customer.delegateService({ service_id: id, email: 'helper@rackmail.net' })).toMatchObject({
    delegation: { status: 'invited' },
  })
})

test('behavior: after the end nothing is left of either, and nothing is owed', async () => {
  for (const each of [vps, peer]) {
    const { hostname } = await customer.getVpsStatus({ service_id: each.id, reveal: false })
    const { operation } = await customer.cancelService({
      service_id: each.id,
      mode: 'immediate',
      confirm: hostname,
    })
    await succeeds(operation)
    for (const { id: snapshotId } of (await customer.listSnapshots({ service_id: each.id })).items)
      await customer.deleteSnapshot({ service_id: each.id, snapshot_id: snapshotId })
    await vi.waitUntil(async () => (await tracesOf(service, each.id)).length === 0, {
      timeout: 30_000,
      interval: 300,
    })
  }
  expect(await addressTraces(ipv6)).toEqual([])
  expect(await chargesOf(customer)).toMatchObject({ held: 0n })
  expect((await customer.getBalance()).owed).toBe(0n)
})

test('default: no operation on orders and VPS was left out', () => {
  const of = operationList.filter(([, { path }]) => /^\/(orders|services|products)(\/|$)/.test(path))
  expect(of.map(([name]) => name).filter((name) => !called.has(name))).toEqual([])
})
