import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect as connectTcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer, type TLSSocket } from 'node:tls'
import { HOST_PROTOCOL, SERVICE_NAME } from '@coinrack/host/join-token.ts'
import { type Identity, requestKey } from '@coinrack/sandbox-host/identity.ts'
import { joinService } from '@coinrack/sandbox-host/join.ts'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { inTransaction } from '../database/transaction.ts'
import { placeMachine } from '../hosts/place-machine.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { buyerOf } from '../sandboxes/life/testing.ts'
import { openAuthority } from './authority.ts'
import { joinBy, runHost, takeHosts } from './testing.ts'

const HOUR_MS = 3_600_000

let service: TestService
let hosts: Awaited<ReturnType<typeof takeHosts>>
let folder: string
let names = 0
const closing: (() => Promise<void>)[] = []
beforeAll(async () => {
  service = await startTestService({}, { start: new Date() })
  hosts = await takeHosts(service)
  folder = await mkdtemp(join(tmpdir(), 'coinrack-hosts-'))
})
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})
afterAll(async () => {
  await hosts.close()
  await service.close()
  await rm(folder, { recursive: true, force: true })
})

const newName = () => `host-${++names}`
const start = (identity: Identity) => {
  const host = runHost(service, identity, join(folder, identity.hostId))
  closing.push(host.close)
  return host
}
const isConnected = (id: string) => service.services.sandboxes.has(id)
const connected = (id: string) => vi.waitUntil(() => isConnected(id), { timeout: 10_000 })
const newHost = async () => {
  const id = newName()
  const host = start(await joinBy(await hosts.invite(id)))
  await connected(id)
  return { id, host }
}
/** The operator's commands that were run, with one name for all hosts. */
const commandsRun = new Set<string>()
const nameless = (words: string) =>
  words.replace(/ --json$/, '').replace(/\b(rack|host)-\d+\b|\blocal\b/g, 'HOST')
const operator = (...words: string[]) => {
  commandsRun.add(nameless(words.join(' ')))
  return hosts.operator(...words)
}
/** Whether the service lets a host in by this key and certificate, or ends the connection. */
async function isLetIn({
  key,
  certificate,
  authority,
}: Omit<Identity, 'hostId' | 'services'>): Promise<boolean> {
  const { hostname, port } = new URL(`tls://${hosts.address}`)
  const socket = connect({
    ...{ host: hostname, port: Number(port), key, cert: certificate, ca: authority },
    servername: SERVICE_NAME,
    ALPNProtocols: [HOST_PROTOCOL],
  })
  socket.on('error', () => {})
  const first = Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)])
  const letIn = await first
  socket.destroy()
  return letIn
}

test("default: a machine joins by the token, and its sandboxes are the service's", async () => {
  const { id, host } = await newHost()
  const buyer = await buyerOf(service, 10_000_000n)
  expect((await operator('host', 'drain', 'local')).exitCode).toBe(0)
  const made = await buyer.sandbox()
  expect((await operator('host', 'open', 'local')).exitCode).toBe(0)
  expect((await buyer.row(made)).host_id).toBe(id)
  expect(host.runtime.sandboxes.has(made)).toBe(true)
  const { body } = await buyer.post(`/sandboxes/${made}/exec`, { command: 'echo over there' })
  expect(body.stdout).toBe('over there\n')
  await service.reconcileSandboxes()
  const list = (await operator('host', 'show', id, '--json')).stdout
  expect(JSON.parse(list)).toMatchObject({
    id,
    kind: 'sandboxes',
    state: 'open',
    sandboxes: 1,
    trouble: null,
  })
  await buyer.kill(made)
})

test('behavior: a token is good once, for 15 minutes, and only for the name that it has', async () => {
  const name = newName()
  expect((await operator('host', 'invite', name)).exitCode).toBe(0)
  const token = await hosts.invite(name)
  const key = await requestKey(token.hostId)
  await joinService(token, key, new Date())
  // The machine that did not hear the answer asks again, with its key.
  await joinService(token, key, new Date())
  await expect(joinBy(token)).rejects.toThrow('Another machine has joined by this token')

  const late = await hosts.invite(newName())
  service.clock.advance(15 * 60_000)
  await expect(joinBy(late)).rejects.toThrow('older than 15 minutes')

  const [one, two] = [await hosts.invite(newName()), await hosts.invite(newName())]
  await expect(joinBy({ ...one, hostId: two.hostId })).rejects.toThrow('knows no such token')
  await expect(joinBy({ ...one, secret: Buffer.alloc(32).toString('base64url') })).rejects.toThrow(
    'no such token',
  )
})

test('behavior: only the hash of a token is kept, and an invitation that follows takes its place', async () => {
  const first = await hosts.invite(newName())
  const { rows } = await service.services.db.query(`select * from host_invitation where host_id = $1`, [
    first.hostId,
  ])
  expect(JSON.stringify(rows)).not.toContain(first.secret)
  const second = await hosts.invite(first.hostId)
  await expect(joinBy(first)).rejects.toThrow('no such token')
  await joinBy(second)
})

test('error: somebody in the middle gets nothing of a token', async () => {
  const token = await hosts.invite(newName())
  const other = await startTestService({}, { start: new Date() })
  closing.push(() => other.close())
  const identity = await (await openAuthority(other.services)).serverIdentity()
  let heard = ''
  const server = createServer({ ...identity, ALPNProtocols: ['coinrack-join'] }, (socket: TLSSocket) => {
    socket.on('data', (data) => {
      heard += data
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const addresses = [`127.0.0.1:${(server.address() as { port: number }).port}`]
  await expect(joinBy({ ...token, addresses })).rejects.toThrow('Another service than the one of the token')
  expect(heard).toBe('')
  server.close()
})

test('error: a host cannot stand in for the service', async () => {
  const token = await hosts.invite(newName())
  const { key, certificate, authority } = await joinBy(await hosts.invite(newName()))
  const server = createServer({
    key,
    cert: `${certificate}\n${authority}`,
    ALPNProtocols: ['coinrack-join'],
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const addresses = [`127.0.0.1:${(server.address() as { port: number }).port}`]
  await expect(joinBy({ ...token, addresses })).rejects.toThrow('A host answers in the place of the service')
  server.close()
})

test('error: a certificate counts only with its key, of this authority, while it holds, until a newer one was used', async () => {
  const mine = await joinBy(await hosts.invite(newName()))
  const { key, request } = await requestKey(mine.hostId)
  expect(await isLetIn(mine)).toBe(true)
  // It was signed by another installation, for the same name.
  const other = await startTestService({}, { start: new Date() })
  closing.push(() => other.close())
  const foreign = await (await openAuthority(other.services)).sign(request, mine.hostId)
  expect(await isLetIn({ ...mine, key, certificate: foreign.pem })).toBe(false)
  // It was signed by the authority, but never admitted.
  const unknown = await hosts.authority.sign(request, mine.hostId)
  expect(await isLetIn({ ...mine, key, certificate: unknown.pem })).toBe(false)
  // The certificate of the service itself is not that of a host.
  const { key: serverKey, cert } = await hosts.authority.serverIdentity()
  expect(await isLetIn({ ...mine, key: serverKey, certificate: cert })).toBe(false)
  // Another machine joins by the name.
  await joinBy(await hosts.invite(mine.hostId))
  expect(await isLetIn(mine)).toBe(false)
  const last = await joinBy(await hosts.invite(newName()))
  service.clock.advance(25 * HOUR_MS)
  expect(await isLetIn(last)).toBe(false)
  service.clock.advance(-25 * HOUR_MS)
})

test('default: a certificate is renewed at half of its life, and the old one is of no use then', async () => {
  const { id, host } = await newHost()
  const before = host.identity()
  service.clock.advance(11 * HOUR_MS)
  await new Promise((resolve) => setTimeout(resolve, 6_000))
  expect(host.identity()).toEqual(before)
  service.clock.advance(2 * HOUR_MS)
  await vi.waitUntil(() => host.identity().certificate !== before.certificate, { timeout: 15_000 })
  await vi.waitUntil(async () => !(await isLetIn(before)), { timeout: 10_000 })
  expect(isConnected(id)).toBe(true)
  const { runtime } = service.services.sandboxes.get(id)!
  expect(await runtime.templates()).toHaveLength(2)
  expect(await isLetIn(host.identity())).toBe(true)
  service.clock.advance(-13 * HOUR_MS)
}, 60_000)

test('behavior: a host that is forgotten is cut off at once, and let in no more', async () => {
  const { id, host } = await newHost()
  const buyer = await buyerOf(service, 10_000_000n)
  await service.services.db.query(`update host set state = 'draining' where id <> $1`, [id])
  const [running, paused] = [await buyer.sandbox(), await buyer.sandbox({ mode: 'persistent' })]
  await buyer.post(`/sandboxes/${paused}/pause`)
  await service.services.db.query(`update host set state = 'open' where id = 'local'`)
  const refused = await operator('host', 'forget', id)
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--lose-sandboxes') })
  expect(isConnected(id)).toBe(true)

  const { exitCode, stdout } = await operator('host', 'forget', id, '--lose-sandboxes')
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('2 sandboxes end')])
  await vi.waitUntil(() => !isConnected(id), { timeout: 2_000 })
  expect(await isLetIn(host.identity())).toBe(false)
  service.clock.advance(11_000)
  await service.reconcileSandboxes()
  for (const each of [running, paused])
    expect(await buyer.show(each)).toMatchObject({ state: 'ended', reason: 'host_lost' })
  await vi.waitUntil(() => host.said.some((line) => line.includes('it may have forgotten the host')), {
    timeout: 20_000,
  })
  const listed = JSON.parse((await operator('host', 'list', '--json')).stdout)
  expect(JSON.stringify(listed)).not.toContain(`"${id}"`)
}, 40_000)

test('behavior: a host comes back by itself after its connection broke', async () => {
  const { id } = await newHost()
  const { runtime } = service.services.sandboxes.get(id)!
  hosts.cut()
  await vi.waitUntil(() => !isConnected(id))
  await expect(runtime.capacity()).rejects.toMatchObject({ code: 'host_unreachable' })
  await connected(id)
  expect((await service.services.sandboxes.get(id)!.runtime.capacity()).vcpus).toBeGreaterThan(0)
})

test('behavior: two replicas that begin at the same moment have one authority', async () => {
  const other = await startTestService({}, { start: new Date() })
  closing.push(() => other.close())
  const both = await Promise.all([openAuthority(other.services), openAuthority(other.services)])
  expect(both[0].fingerprint).toBe(both[1].fingerprint)
  const { rows } = await other.services.db.query('select sealed_key from host_authority')
  expect(rows[0].sealed_key.toString()).not.toContain('PRIVATE')
})

test('behavior: whoever connects and says nothing, or nonsense, holds up no host', async () => {
  const { hostname, port } = new URL(`tls://${hosts.address}`)
  const mute = Array.from({ length: 150 }, () => connectTcp(Number(port), hostname))
  for (const socket of mute) socket.on('error', () => {})
  mute[0]!.write('GET / HTTP/1.1\r\n\r\n')
  const { id } = await newHost()
  expect(isConnected(id)).toBe(true)
  for (const socket of mute) socket.destroy()
})

test('error: names that no host may have', async () => {
  for (const name of ['local', 'Upper', 'a b', '../x', 'x'.repeat(40), '1st'])
    expect(await operator('host', 'invite', name)).toMatchObject({ exitCode: 1 })
  await service.services.db.query(`insert into host (id, kind, region) values ('east-1', 'incus', 'east')`)
  expect((await operator('host', 'invite', 'east-1')).stderr).toContain('a host of machines already')
})

test('behavior: no VPS is placed on a sandbox host', async () => {
  const { id } = await newHost()
  await service.services.db.query(
    `update host set memory_mb = 1000000, disk_gb = 100000, images = '[{"slug":"debian-12","state":"ready"}]' where id = $1`,
    [id],
  )
  const placed = await inTransaction(service.services.db, (tx) =>
    placeMachine(tx, service.services, { memory_mb: 900_000, disk_gb: 10, network: 'nat' }),
  )
  expect(placed).toBe('no_room')
})

test('default: each command of the guide for sandbox hosts was run here', async () => {
  const guide = await readFile(
    join(import.meta.dirname, '../../../../docs/operator/sandbox-hosts.md'),
    'utf8',
  )
  const commands = [
    ...guide.matchAll(/(?:npm run operator -- |`)(host (?:list|invite|show|drain|open|forget)[^`\n]*)/g),
  ].map(([, command]) => nameless(command!))
  expect(commands.length).toBeGreaterThan(5)
  expect(commands.filter((command) => !commandsRun.has(command) && command !== 'host invite')).toEqual([])
})
