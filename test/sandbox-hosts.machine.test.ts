import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@coinrack/host/free-port.ts'
import { type CoinrackError, Sandbox } from '@coinrack/sdk/index.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { newCustomer } from './support/order-life.ts'
import { type RunningService, startService } from './support/running-service.ts'
import { expectExactBill } from './support/sandbox-bill.ts'
import {
  type Cable,
  connectionsOf,
  layCable,
  newSandboxHost,
  type RunningHost,
} from './support/sandbox-host.ts'
import { countedBy, machinesOf } from './support/sandbox-traces.ts'

/*
 * A service and one more sandbox host, each a process with data of its own, the host on a network of its own. One life, in order:
 * the host joins with nothing but the token, runs what customers order, gives it away and gets it, and is lost.
 */

vi.setConfig({ testTimeout: 5 * 60_000 })

const DEPOSIT = 5_000_000n
const NAME = 'rack-2'

let cable: Cable
let service: RunningService
let host: RunningHost
let address: string
let customer: Awaited<ReturnType<typeof newCustomer>>
let options: { url: string; token: string }
const ids: string[] = []

beforeAll(async () => {
  cable = await layCable()
  address = `${cable.here}:${await freePort()}`
  service = await startService({
    COINRACK_SANDBOXES: 'true',
    COINRACK_SANDBOX_POOL: '0',
    COINRACK_HOSTS_LISTEN: address,
    COINRACK_SANDBOX_HOST_LOST_MINUTES: '1',
  })
  host = await newSandboxHost(cable)
  customer = await newCustomer(service, '5')
  options = { url: service.origin, token: customer.token }
}, 40 * 60_000)

afterAll(async () => {
  await host?.remove()
  await service?.stop()
  await cable?.remove()
}, 180_000)

const known = (sandbox: Sandbox) => {
  ids.push(sandbox.id)
  return sandbox
}
const operator = async (...words: string[]) => JSON.parse(await service.operator(...words, '--json'))
const isThere = async (sandbox: Sandbox) => {
  const { sandboxes } = await operator('host', 'show', NAME)
  const { state } = await customer.getSandbox({ sandbox_id: sandbox.id })
  return { sandboxes, state }
}
/** Lets new ones come to one of the two alone. */
const only = async (name: string) => {
  await service.operator('host', 'open', name)
  await service.operator('host', 'drain', name === NAME ? 'local' : NAME)
}
const patiently = <T>(work: () => Promise<T>, seconds = 120) =>
  vi.waitFor(work, { timeout: seconds * 1000, interval: 500 })
const create = (input: object = {}) =>
  patiently(async () => known(await Sandbox.create(options, { timeout: 3600, ...input })))
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'none',
    ({ code }: CoinrackError) => code,
  )

/** The customers' sandboxes that the host has; it also keeps folders for those to come. */
const onHost = async () => [...(await countedBy(host.dataFolder)).keys()]

let first: Sandbox

test('default: a machine joins by one command, is given images, and runs what is ordered', async () => {
  const { token } = await operator('host', 'invite', NAME)
  await host.join(token)
  await only(NAME)
  first = await create({ mode: 'persistent', env: { FROM: 'far' } })
  expect(await isThere(first)).toEqual({ sandboxes: 1, state: 'running' })
  expect((await machinesOf(host.dataFolder)).length).toBe(1)
  expect((await machinesOf(service.dataFolder)).length).toBe(0)
  expect(await readdir(join(host.cacheFolder, 'images'))).toEqual(
    expect.arrayContaining([expect.stringMatching(/^sandbox-base-/)]),
  )

  const heard: string[] = []
  const { exit_code } = await first.exec('echo "$FROM"; exit 3', {
    onStdout: (text) => void heard.push(text),
  })
  expect([heard.join(''), exit_code]).toEqual(['far\n', 3])
  await first.runCode('x = 40', { context: 'python' })
  expect((await first.runCode('x + 2', { context: 'python' })).results[0]!.data['text/plain']).toBe('42')
  const bytes = new Uint8Array(5_000_000).map((_, index) => index * 31)
  expect(await first.files.write('data/bytes', bytes)).toBe(bytes.length)
  expect(Buffer.compare(Buffer.from(await first.files.read('data/bytes')), Buffer.from(bytes))).toBe(0)
  await first.start('python3 -m http.server 8123 --bind 127.0.0.1')
  await first.exec('until curl -so /dev/null 127.0.0.1:8123; do sleep 0.1; done', { timeout: 120 })
  const { path_url } = await first.expose(8123)
  expect(await (await fetch(`${path_url}data/`)).text()).toContain('bytes')
})

test('behavior: a program runs there, and its calls are answered here', async () => {
  const ran = await customer.runProgram({
    code: `const { state } = await coinrack.getSandbox({ sandbox_id: '${first.id}' })
await coinrack.writeFile({ sandbox_id: '${first.id}', path: 'from-program', content: 'hello' })
const own = await fetch('http://${address}').then(() => 'reached', () => 'no way out')
console.log(state, own)`,
  })
  ids.push(ran.sandbox_id)
  expect(ran).toMatchObject({ stdout: 'running no way out\n', exit_code: 0, spent: 0n })
  expect((await first.exec('cat from-program')).stdout).toBe('hello')
  await patiently(async () => expect(await onHost()).toEqual([first.id]))
})

test('behavior: the host has one connection, to the service, and neither its database nor its secrets', async () => {
  expect(await connectionsOf(host.pid())).toEqual([address])
  const there = await readdir(host.dataFolder)
  expect(there.filter((name) => ['secrets', 'postgres', 'profile'].includes(name))).toEqual([])
})

test('behavior: killed and started again, the host and its sandbox are reached as before', async () => {
  await host.kill()
  await patiently(async () => expect(await codeOf(first.exec('true'))).toBe('sandboxes_unavailable'))
  expect((await machinesOf(host.dataFolder)).length).toBe(1)
  await host.start()
  const { results } = await patiently(() => first.runCode('x + 2', { context: 'python' }))
  expect(results[0]!.data['text/plain']).toBe('42')
})

test('behavior: a snapshot that was taken there begins a sandbox here', async () => {
  await first.exec('echo "before the snapshot" > ~/note; sync')
  const { id } = await first.snapshot('from afar')
  await only('local')
  const copy = await create({ template: id })
  expect((await machinesOf(service.dataFolder)).length).toBe(1)
  expect((await copy.exec('cat ~/note')).stdout).toBe('before the snapshot\n')
  expect((await copy.runCode('x + 2', { context: 'python' })).results[0]!.data['text/plain']).toBe('42')
  await customer.deleteSandboxSnapshot({ snapshot_id: id })
  for (const folder of [host.dataFolder, service.dataFolder])
    expect(await readdir(join(folder, 'sandbox-snapshots')).catch(() => [])).toEqual([])
  await copy.kill()
})

test('behavior: what is paused on a host that drains moves, and goes on where it stopped', async () => {
  await first.start('for n in $(seq 100000); do echo $n > ~/count; sleep 0.2; done')
  await first.exec('until [ -s ~/count ]; do sleep 0.1; done')
  await first.pause()
  // It began to drain before.
  await patiently(async () => {
    expect(await isThere(first)).toEqual({ sandboxes: 0, state: 'paused' })
    expect(await onHost()).toEqual([])
  })
  await first.resume()
  expect((await machinesOf(service.dataFolder)).length).toBe(1)
  expect((await first.exec('cat ~/note')).stdout).toBe('before the snapshot\n')
  const count = Number((await first.exec('cat ~/count')).stdout)
  expect(Number((await first.exec('sleep 2; cat ~/count')).stdout)).toBeGreaterThan(count)
  await first.kill()
})

test('behavior: what runs on a host whose power goes off ends with a reason, and is paid to then', async () => {
  await only(NAME)
  const lost = await create()
  await cable.plug(false)
  await host.cutPower()
  const state = await patiently(async () => {
    const now = await customer.getSandbox({ sandbox_id: lost.id })
    expect(now.state).toBe('ended')
    return now
  }, 180)
  expect(state.reason).toBe('host_lost')
  expect(state.seconds).toBeLessThan(60)
  await cable.plug(true)
  await host.start()
  await patiently(async () => expect(await onHost()).toEqual([]))
  const again = await create()
  expect((await again.exec('echo back')).stdout).toBe('back\n')
  await again.kill()
})

test('behavior: a host that is forgotten is let in no more; all that ran is paid to the millisecond', async () => {
  await service.operator('host', 'forget', NAME)
  await patiently(async () => expect(host.output()).toContain('it may have forgotten the host'))
  expect(existsSync(join(host.dataFolder, 'host', 'identity.json'))).toBe(true)
  await service.operator('host', 'open', 'local')
  await host.stop()
  expect(await machinesOf(host.dataFolder)).toEqual([])
  await patiently(async () => expect(existsSync(`/proc/${host.pid()}`)).toBe(false), 5)
  await expectExactBill(customer, DEPOSIT, ids)
})
