import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { LOCAL_HOST } from '../platform/machine-host.ts'
import { type Reply, startTestService, type TestService, withHost } from './testing.ts'

/*
 * A host that is slow to answer keeps only the callers waiting who ask something of it: while it is asked, no
 * connection to the database is held, and no lock.
 */

/** How long the driver takes for every call. */
const HOST_MS = 10_000
/** And the sandbox runtime, which a request for a sandbox waits for. */
const CALL_MS = 1_500
/** At the same moment: with all else that is asked then, more than there are connections. */
const ORDERS = 12

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    features: ['guestCommands', 'firewall', 'ownAddresses', 'retainedDisks'],
    env: { COINRACK_RATE_ORDERS: '1000/min', COINRACK_RATE_DEFAULT: '10000/min' },
  })
})
afterAll(() => service.close())

/** The same port, each of whose calls takes long. */
function slow<T extends object>(port: T, ms = CALL_MS): T {
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return async (...args: unknown[]) => {
        await sleep(ms)
        return value.apply(target, args)
      }
    },
  })
}

function slowHost(): void {
  const { services } = service
  const { hosts, sandboxes } = services
  services.hosts = withHost(services, ({ driver }) => ({ driver: slow(driver, HOST_MS) })).hosts
  const { runtime, channel, artifacts } = sandboxes.get(LOCAL_HOST)!
  services.sandboxes = new Map([
    [LOCAL_HOST, { runtime: slow(runtime), channel: slow(channel), artifacts: slow(artifacts) }],
  ])
  onTestFinished(() => {
    Object.assign(services, { hosts, sandboxes })
  })
}

/** For how many milliseconds, at most, a connection waited inside a transaction for something that was no statement. */
async function longestWaitUntil(end: Promise<unknown>): Promise<number> {
  let longest = 0
  let ended = false
  void end.finally(() => {
    ended = true
  })
  while (!ended) {
    const { rows } = await service.services.db.query<{ ms: number }>(
      `select coalesce(max(extract(epoch from clock_timestamp() - state_change)) * 1000, 0)::float8 as ms
       from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
    )
    longest = Math.max(longest, rows[0]!.ms)
    await sleep(100)
  }
  return longest
}

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const begun = performance.now()
  return { value: await work(), ms: performance.now() - begun }
}

/** The 95th percentile of the milliseconds that a read of the balance takes, one after the other until the end. */
async function p95Until(token: string, end: Promise<unknown>): Promise<number> {
  const took: number[] = []
  let ended = false
  void end.finally(() => {
    ended = true
  })
  while (!ended || took.length < 20) {
    const { value, ms } = await timed(() => service.ask('GET', '/balance', { token }))
    expect(value.status).toBe(200)
    took.push(ms)
    await sleep(20)
  }
  return took.sort((a, b) => a - b)[Math.ceil(took.length * 0.95) - 1]!
}

const okay = (replies: Reply[]) =>
  replies.filter(({ status }) => status !== 200).map(({ status, body }) => [status, body.message])

test("behavior: a host that takes its time for every call delays no other customer's order or balance, and holds no connection", async () => {
  const [owner, other] = [await service.customer(1_000_000_000n), await service.customer(1_000_000_000n)]
  const ask = (path: string, body: object, { token } = owner) => service.ask('POST', path, { token, body })
  const order = (hostname: string, { token } = owner) =>
    ask('/orders', { product: 'nano', os_id: 1, hostname }, { ...owner, token })

  const names = ['port', 'firewall', 'reinstalled', 'larger', 'password', 'back']
  const [port, firewall, reinstalled, larger, password, back] = (
    await Promise.all(names.map((name) => order(name)))
  ).map(({ body }) => `/services/${body.service.id}`)
  await service.reconcile()
  const confirm = (hostname: string) => ({ confirm: hostname })
  expect(okay([await ask(`${back}/cancel`, { mode: 'immediate', ...confirm('back') })])).toEqual([])
  await service.reconcile()
  const [kept] = (await service.ask('GET', `${back}/snapshots`, { token: owner.token })).body
  const newSandbox = async () => `/sandboxes/${(await ask('/sandboxes', {})).body.id}`
  const [running, paused] = [await newSandbox(), await newSandbox()]
  expect(okay([await ask(`${paused}/pause`, {})])).toEqual([])

  slowHost()
  const machineCalls = [
    ...Array.from({ length: ORDERS }, (_, index) => order(`web-${index}`)),
    ask('/orders', { product: 'nano', os_id: 1, dry_run: true }),
    ask(`${port}/ports`, { protocol: 'tcp', port: 80 }),
    service.ask('PUT', `${firewall}/firewall`, {
      token: owner.token,
      body: { default_in: 'deny', default_out: 'allow', rules: [] },
    }),
    ask(`${reinstalled}/reinstall`, { os_id: 1, ...confirm('reinstalled') }),
    ask(`${larger}/change-plan`, { target_plan: 'small', ...confirm('larger') }),
    ask(`${password}/reset-password`, {}),
    ask(`${back}/snapshots/${kept.id}/restore`, {}),
  ]
  const all = Promise.all([
    ...machineCalls,
    ask('/sandboxes', {}),
    ask(`${running}/fork`, {}),
    service.ask('PUT', `${running}/network`, { token: owner.token, body: { allow_internet: false } }),
    ask(`${paused}/resume`, {}),
  ])
  const ofMachines = timed(() => Promise.all(machineCalls))
  const theirs = timed(() => order('theirs', other))
  const [p95, longestWait] = await Promise.all([p95Until(other.token, all), longestWaitUntil(all)])
  expect(okay(await all)).toEqual([])
  const { value, ms } = await theirs
  expect(okay([value])).toEqual([])

  // Bounds for a busy machine: whatever waits for the host takes one of its calls at least.
  expect(longestWait).toBeLessThan(CALL_MS)
  expect(p95).toBeLessThan(CALL_MS)
  expect(ms).toBeLessThan(HOST_MS)
  expect((await ofMachines).ms).toBeLessThan(HOST_MS)
})
