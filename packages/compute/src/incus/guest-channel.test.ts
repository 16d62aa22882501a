import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GuestChannel, type GuestError, OUTPUT_BYTES } from '../ports/guest-channel.ts'
import { makeSpec, makeVpsId } from '../testing.ts'
import { createIncusClient, type IncusClient } from './client.ts'
import { featuresOf } from './features.ts'
import { createIncusGuestChannel } from './guest-channel.ts'
import { adjusted, instanceName, instanceOf } from './instance.ts'
import { type RecordedCluster, startRecordedCluster } from './testing-server.ts'

/*
 * The guest channel against recorded answers, with this host as the inside of the machine. The suite of the port passes on a
 * real cluster in guest-channel.cluster.test.ts.
 */

let cluster: RecordedCluster
let client: IncusClient
let channel: GuestChannel
let folder: string
const id = makeVpsId()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'incus-guest-'))
  cluster = await startRecordedCluster()
  client = createIncusClient({
    members: cluster.members,
    project: 'coinrack',
    certificate: cluster.certificate,
    key: cluster.key,
    clusterCertificate: cluster.certificate,
    timeoutMs: 4_000,
  })
  channel = createIncusGuestChannel(client, { bytes: (length) => randomBytes(length) })
  const name = instanceName(id)
  const instance = { name, status: 'Running', location: 'node2', config: {}, devices: {}, last_used_at: '' }
  cluster.instances.set(name, instance)
})
afterAll(async () => {
  await client.close()
  await cluster.close()
  await rm(folder, { recursive: true })
})

const run = (command: string, timeoutMs = 20_000) => channel.exec(id, { command, cwd: folder, timeoutMs })
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'none',
    (error: GuestError) => error.code,
  )

test('default: outputs and exit code of a command, with input and environment', async () => {
  const answer = await channel.exec(id, {
    command: 'cat; echo "$WHO" >&2; exit 7',
    input: 'typed\n',
    env: { WHO: `it's "me"` },
    cwd: folder,
    timeoutMs: 20_000,
  })
  expect(answer).toMatchObject({ stdout: 'typed\n', stderr: `it's "me"\n`, exitCode: 7, timedOut: false })
})

test('behavior: of a long output the beginning is kept; what takes too long is ended', async () => {
  const long = await run("head -c 3000000 /dev/zero | tr '\\0' x")
  expect(long).toMatchObject({ exitCode: 0, truncated: true })
  expect(long.stdout).toBe('x'.repeat(OUTPUT_BYTES))
  expect(await run('echo before; sleep 30', 300)).toMatchObject({ stdout: 'before\n', timedOut: true })
})

test('default: a file of several pieces comes back as it was', async () => {
  const content = Buffer.concat(
    Array.from({ length: 45_000 }, (_, index) => createHash('sha256').update(String(index)).digest()),
  )
  const path = join(folder, 'pieces')
  expect(await channel.writeFile(id, path, content)).toBe(content.length)
  const back = await channel.readFile(id, path, { offset: 0, length: 5_000_000 })
  expect(Buffer.from(back.content).equals(content)).toBe(true)
  expect(await codeOf(channel.readFile(id, join(folder, 'none'), { offset: 0, length: 1 }))).toBe(
    'file_unknown',
  )
})

test('error: a machine that is off, that there is not, or whose member is away', async () => {
  expect(await channel.alive(id)).toBe(true)
  const instance = cluster.instances.get(instanceName(id))!
  instance.status = 'Stopped'
  expect(await codeOf(run('true'))).toBe('guest_away')
  expect(await channel.alive(id)).toBe(false)
  instance.status = 'Running'
  for (const other of [makeVpsId(), '../../1.0'])
    expect(await codeOf(channel.exec(other, { command: 'true', timeoutMs: 1_000 }))).toBe('guest_away')
  cluster.setAway('node2', true)
  expect(await codeOf(run('true'))).toBe('guest_failed')
  cluster.setAway('node2', false)
})

test('error: a machine whose agent does not answer, in the words of the cluster', async () => {
  cluster.refuseExec = "VM agent isn't currently running"
  expect(await codeOf(run('true'))).toBe('guest_away')
  cluster.refuseExec = undefined
})

test('behavior: a program that is over before it can be controlled has its output all the same', async () => {
  cluster.isControlLate = true
  expect(await run('echo soon')).toMatchObject({ stdout: 'soon\n', exitCode: 0 })
  cluster.isControlLate = false
})

test('behavior: where agents are used, machines get theirs with their creation, older ones with their next start', () => {
  const network = { bridge: 'br0', prefixLength: 16, gateway: '198.18.0.1', resolver: '198.18.0.1' }
  const options = { pool: 'cow', network }
  const ipv4 = '198.18.0.7'
  const spec = makeSpec({ id, addresses: { ipv4 }, sshAddress: { host: ipv4, port: 22 } })
  const image = { fingerprint: 'a'.repeat(64), seed: Buffer.alloc(0) }
  const without = instanceOf(spec, image, options)
  expect(without.devices).not.toHaveProperty('agent')
  const agent = { type: 'disk', source: 'agent:config', 'io.bus': 'virtio-blk' }
  const withAgent = { ...options, guestAgent: true }
  expect(instanceOf(spec, image, withAgent).devices).toMatchObject({ agent })
  const older = { ...without, status: 'Stopped', location: 'node2', last_used_at: '' }
  expect(adjusted(older, spec, withAgent).devices).toMatchObject({ agent })
  expect([featuresOf(options), featuresOf(withAgent)].map(({ guestCommands }) => guestCommands)).toEqual([
    false,
    true,
  ])
})
