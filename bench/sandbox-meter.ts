import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { SandboxObservation, SandboxRuntime } from '@coinrack/compute/ports/sandbox-runtime.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { prepareDataFolder } from '@coinrack/server/data-folder/data-folder.ts'
import { startEmbeddedPostgres } from '@coinrack/server/database/embedded.ts'
import { migrate } from '@coinrack/server/database/migrate.ts'
import { openPool } from '@coinrack/server/database/pool.ts'
import { LOCAL_HOST } from '@coinrack/server/platform/machine-host.ts'
import type { SandboxHosts } from '@coinrack/server/platform/sandbox-host.ts'
import { idMaker, type Services } from '@coinrack/server/platform/services.ts'
import { createSandboxReconciler } from '@coinrack/server/sandboxes/life/reconcile-sandboxes.ts'
import { createSandboxMeter } from '@coinrack/server/sandboxes/meter/meter-sandboxes.ts'
import { pino } from 'pino'
import { postgresSeconds } from './postgres-seconds.ts'

/*
 * The cost of metering many running sandboxes: processor time of the service and of PostgreSQL per sandbox and hour,
 * and as a share of one core, looking for what is due included. Half of them belong to one account each, the other half
 * to ten large ones. The sandboxes are fake: what a real one costs to observe is the runtime's.
 * `npm run bench:sandboxes -- [sandboxes] [minutes]`
 */

const [count = 10_000, minutes = 10] = process.argv.slice(2).map(Number)
const METER_MS = 250
const RECONCILE_MS = 500
const PRICE = 16_500n

const folder = await mkdtemp('/tmp/coinrack-bench-')
const user = await serviceUser()
await prepareDataFolder(folder, user)
const postgres = await startEmbeddedPostgres({ dataFolder: folder, cacheFolder: join(folder, 'cache'), user })
const db = openPool(postgres.url, { size: 4, onError: () => {} })

const start = Date.parse('2026-01-31T12:00:00Z')
let now = start
const clock = { now: () => new Date(now) }
const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
const seen = new Map<string, SandboxObservation>()
const runtime = { observe: async () => seen } as unknown as SandboxRuntime

try {
  await migrate(db)
  await makeSandboxes()
  const log = pino({ level: 'silent' })
  const sandboxes = new Map([[LOCAL_HOST, { runtime }]]) as SandboxHosts
  const services = { db, clock, newId: idMaker(clock, random), log, sandboxes } as Services
  const meter = createSandboxMeter(services)
  const reconciler = createSandboxReconciler(services)
  await meter.pass()
  await reconciler.pass()
  const before = { service: process.cpuUsage(), postgres: await postgresSeconds(folder) }
  const begin = performance.now()
  for (let ms = 0; ms < minutes * 60_000; ms += METER_MS) {
    now += METER_MS
    await meter.pass()
    if (ms % RECONCILE_MS === 0) await reconciler.pass()
  }
  const wall = (performance.now() - begin) / 1000
  const { user: inUser, system } = process.cpuUsage(before.service)
  const service = (inUser + system) / 1e6
  const database = (await postgresSeconds(folder)) - before.postgres
  const hours = (count * minutes) / 60
  const each = (seconds: number) =>
    `${((seconds / hours) * 1000).toFixed(2)} ms of processor per sandbox and hour`
  console.log(`${count} sandboxes metered for ${minutes} minutes, in ${wall.toFixed(1)} s`)
  console.log(`service    ${each(service)}`)
  console.log(`PostgreSQL ${each(database)}`)
  console.log(
    `together   ${(((service + database) / (minutes * 60)) * 100).toFixed(2)} % of one core for all of them`,
  )
  await check()
} finally {
  await db.end()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}

async function makeSandboxes(): Promise<void> {
  const single = Math.floor(count / 2)
  await db.query(
    `insert into account (id, email, created_at) select 'acc_' || n, n || '@rackmail.net', now() from generate_series(1, $1) n`,
    [single + 10],
  )
  await db.query('insert into customer_balance (account_id) select id from account')
  await db.query(
    `select ledger_post('txn_' || id, 'adjustment', id, null, '', now(), array['house.adjustments', 'customer.available'],
       array[-1000000000, 1000000000]) from account`,
  )
  await db.query(
    `insert into token (id, account_id, hash, scopes, authenticated_at, created_at, expires_at, lineage)
     select replace(id, 'acc', 'tok'), id, sha256(id::bytea), '{sandbox}', now(), now(), now(), array[replace(id, 'acc', 'tok')]
     from account`,
  )
  const { rows } = await db.query<{ id: string }>(
    `insert into sandbox (id, host_id, account_id, counted_for, tariff, template, mode, vcpus, memory_mb, disk_gb, env, metadata, network,
       timeout_s, idle_s, state, created_at, expires_at, price_hourly, seen_at)
     select 'sbx' || lpad(n::text, 26, '0'), 'local', 'acc_' || owner, array['tok_' || owner], 'micro', 'base',
       'ephemeral', 0.25, 512, 1, '', '{}', '{}', 86400, 0, 'running', $3, $3::timestamptz + interval '1 day', $4, $3
     from generate_series(1, $1::int) n, lateral (select case when n <= $2 then n else $2 + 1 + n % 10 end as owner) whose
     returning id`,
    [count, single, clock.now(), PRICE],
  )
  for (const { id } of rows)
    seen.set(id, {
      state: 'running',
      get ranMs() {
        return now - start
      },
    })
  await db.query('vacuum analyze')
}

/** Checks that what was charged is what ran. */
async function check(): Promise<void> {
  const { rows } = await db.query<{ charged: bigint; ran: bigint; posted: bigint }>(
    `select sum(charged)::bigint as charged, sum(ran_ms * price_hourly / 3600000)::bigint as ran,
       (select sum(amount)::bigint from ledger_entry where ledger_account = 'revenue.sandbox') as posted
     from sandbox`,
  )
  const { charged, ran, posted } = rows[0]!
  if (charged !== ran || charged !== posted) throw new Error(`Charged ${charged} of ${ran}, posted ${posted}`)
}
