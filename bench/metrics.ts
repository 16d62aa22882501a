import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { GuestChannel } from '@coinrack/compute/ports/guest-channel.ts'
import type { VpsDriver } from '@coinrack/compute/ports/vps-driver.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { prepareDataFolder } from '@coinrack/server/data-folder/data-folder.ts'
import { startEmbeddedPostgres } from '@coinrack/server/database/embedded.ts'
import { migrate } from '@coinrack/server/database/migrate.ts'
import { openPool } from '@coinrack/server/database/pool.ts'
import type { MachineHost } from '@coinrack/server/platform/machine-host.ts'
import type { Services } from '@coinrack/server/platform/services.ts'
import { createSampler } from '@coinrack/server/vps/meter/sample-machines.ts'
import { pino } from 'pino'
import { insertMachines } from './insert-machines.ts'
import { postgresSeconds } from './postgres-seconds.ts'

/*
 * The cost of keeping the metrics of many machines: processor time of the service and of PostgreSQL per machine and
 * sample, and as a share of one core; roll-up and dropping of old rows included. The machines are fake: what a real one
 * costs to ask is the driver's. `npm run bench:metrics -- [machines] [minutes]`
 */

const [machines = 5_000, minutes = 30] = process.argv.slice(2).map(Number)
const STEP_MS = 15_000

const folder = await mkdtemp('/tmp/coinrack-bench-')
const user = await serviceUser()
await prepareDataFolder(folder, user)
const postgres = await startEmbeddedPostgres({ dataFolder: folder, cacheFolder: join(folder, 'cache'), user })
const db = openPool(postgres.url, { size: 4, onError: () => {} })

let now = Date.parse('2026-01-31T12:00:00Z')
const start = now
const clock = { now: () => new Date(now) }
/** Each machine says what it uses, without a guest's own time for it. */
const guests = {
  usage: async () => ({
    memoryUsedBytes: 60 * 1024 ** 2,
    cpu: { busyMs: (now - start) / 4, totalMs: now - start },
  }),
} as unknown as GuestChannel
let ids: string[] = []
const driver = {
  async observeAll() {
    const seconds = (now - start) / 1000
    const metrics = {
      cpuSeconds: seconds / 4,
      memoryBytes: 300 * 1024 ** 2,
      diskReadBytes: seconds * 1000,
      diskWrittenBytes: seconds * 2000,
      diskUsedBytes: 0,
      rxBytes: seconds * 100,
      txBytes: seconds * 50,
    }
    const seen = { state: 'running', sshReady: true, uptimeSeconds: seconds + 1000, metrics }
    return new Map(ids.map((id) => [id, seen]))
  },
} as unknown as VpsDriver

try {
  await migrate(db)
  await makeMachines(machines)
  ids = (await db.query<{ id: string }>('select id from vps_machine')).rows.map(({ id }) => id)
  const sampler = createSampler({
    ...{ db, clock, log: pino({ level: 'silent' }) },
    hosts: new Map([['local', { driver, guests } as MachineHost]]),
  } as unknown as Services)
  await sampler.pass()
  const passes = minutes * 4
  const before = { service: process.cpuUsage(), postgres: await postgresSeconds(folder) }
  const begin = performance.now()
  for (let pass = 0; pass < passes; pass++) {
    now += STEP_MS
    await sampler.pass()
  }
  const wall = (performance.now() - begin) / 1000
  const { user: inUser, system } = process.cpuUsage(before.service)
  const service = (inUser + system) / 1e6
  const database = (await postgresSeconds(folder)) - before.postgres
  const samples = passes * machines
  const { rows } = await db.query(
    `select count(*)::int as rows, (select sum(pg_total_relation_size(inhrelid))::float8 from pg_inherits
       where inhparent = 'vps_metric'::regclass) as bytes from vps_metric`,
  )
  console.log(
    `${machines} machines, ${passes} steps of 15 s (${samples} samples), ${wall.toFixed(1)} s of wall time`,
  )
  console.log(`service    ${((service / samples) * 1e6).toFixed(1)} us of processor per machine and sample`)
  console.log(`PostgreSQL ${((database / samples) * 1e6).toFixed(1)} us of processor per machine and sample`)
  console.log(
    `together   ${(((service + database) / (passes * 15)) * 100).toFixed(2)} % of one core for all of them`,
  )
  console.log(`kept       ${rows[0]!.rows} rows, ${(rows[0]!.bytes / 1024 ** 2).toFixed(0)} MiB`)
} finally {
  await db.end()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}

async function makeMachines(count: number): Promise<void> {
  await db.query(
    `insert into account (id, email, created_at) values ('acc_bench', 'bench@rackmail.net', now())`,
  )
  await db.query(
    `insert into vps_order (id, account_id, status, product, os_id, hostname, service_id, price, price_hourly, created_at, expires_at)
     select 'ord_' || lpad(n::text, 26, '0'), 'acc_bench', 'active', 'nano', 1, 'web', 'vps_' || lpad(n::text, 26, '0'), 1, 1, now(), now()
     from generate_series(1, $1) as n`,
    [count],
  )
  await db.query(`insert into host (id, kind, region) values ('local', 'bench', 'east')`)
  await insertMachines(db)
}
