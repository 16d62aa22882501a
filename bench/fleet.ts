import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { allFeatures } from '@coinrack/compute/fake/driver.ts'
import type { GuestChannel } from '@coinrack/compute/ports/guest-channel.ts'
import type { VpsDriver, VpsObservation } from '@coinrack/compute/ports/vps-driver.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { prepareDataFolder } from '@coinrack/server/data-folder/data-folder.ts'
import { startEmbeddedPostgres } from '@coinrack/server/database/embedded.ts'
import { migrate } from '@coinrack/server/database/migrate.ts'
import { openPool } from '@coinrack/server/database/pool.ts'
import { observeHost } from '@coinrack/server/hosts/observe-host.ts'
import type { MachineHost } from '@coinrack/server/platform/machine-host.ts'
import type { Services } from '@coinrack/server/platform/services.ts'
import { createVpsReconciler } from '@coinrack/server/vps/machine/reconcile-vps.ts'
import { createSampler } from '@coinrack/server/vps/meter/sample-machines.ts'
import { pino } from 'pino'
import { insertMachines } from './insert-machines.ts'
import { postgresSeconds } from './postgres-seconds.ts'

/*
 * The cost of tending machines to which nothing happens, on 10, 100 and 1,000 hosts with 100 machines each: processor time of the
 * service and of PostgreSQL for each kind of pass, as a share of one core with the interval at which the service makes it, and the
 * memory of the service. Hosts answer at once: what a real one costs to ask is its driver's.
 * `npm run bench:fleet -- [most hosts]`
 */

const [most = 1_000] = process.argv.slice(2).map(Number)
const MACHINES_EACH = 100
/** The intervals of the service: every machine is looked at, the wishes are read, each host is asked, each machine is measured. */
const EVERY_MS = { look: 15_000, wishes: 5_000, hosts: 3_000, samples: 15_000 }

const folder = await mkdtemp('/tmp/coinrack-bench-')
const user = await serviceUser()
await prepareDataFolder(folder, user)
const postgres = await startEmbeddedPostgres({ dataFolder: folder, cacheFolder: join(folder, 'cache'), user })
const db = openPool(postgres.url, { size: 20, onError: () => {} })

let now = Date.parse('2026-01-31T12:00:00Z')
const start = now
const clock = { now: () => new Date(now) }

function hostWith(id: string, ids: string[]): MachineHost {
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
      const seen: VpsObservation = {
        state: 'running',
        sshReady: true,
        uptimeSeconds: seconds + 1000,
        metrics,
      }
      return new Map(ids.map((machine) => [machine, seen]))
    },
    applyNetwork: async () => {},
    inventory: async () => ({
      capacity: { vcpus: 64, memoryMb: 65_536, diskGb: 2_000 },
      features: allFeatures,
      images: [{ slug: 'debian-12', state: 'ready' }],
      usedPorts: [],
      machines: ids,
    }),
  } as unknown as VpsDriver
  const guests = {
    usage: async () => ({
      memoryUsedBytes: 60 * 1024 ** 2,
      cpu: { busyMs: (now - start) / 4, totalMs: now - start },
    }),
  } as unknown as GuestChannel
  return { id, kind: 'fake', region: 'east', driver, guests } as MachineHost
}

interface Cost {
  service: number
  postgres: number
  wall: number
}

/** Seconds of one call. */
async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const before = { service: process.cpuUsage(), postgres: await postgresSeconds(folder) }
  const begun = performance.now()
  await work()
  const wall = (performance.now() - begun) / 1000
  const { user: inUser, system } = process.cpuUsage(before.service)
  return {
    service: (inUser + system) / 1e6,
    postgres: (await postgresSeconds(folder)) - before.postgres,
    wall,
  }
}

async function measure(count: number) {
  await makeMachines(count)
  const { rows } = await db.query<{ host_id: string; ids: string[] }>(
    'select host_id, array_agg(id order by id) as ids from vps_machine group by 1',
  )
  const hosts = new Map(rows.map(({ host_id, ids }) => [host_id, hostWith(host_id, ids)]))
  const services = { db, clock, log: pino({ level: 'silent' }), hosts } as unknown as Services
  const reconciler = createVpsReconciler(services)
  const sampler = createSampler(services)
  const pass = async () => {
    await reconciler.pass()
    await reconciler.idle()
  }
  const observeAll = async () => {
    for (const host of hosts.values()) await observeHost(services, host)
  }
  await observeAll()
  const first = await costOf(pass)
  await sampler.pass()
  now += EVERY_MS.look
  const look = await costOf(pass)
  const wishes = await costOf(pass)
  const asked = await costOf(observeAll)
  now += EVERY_MS.samples
  const samples = await costOf(() => sampler.pass())
  global.gc?.()
  return {
    count,
    first,
    look,
    wishes,
    hosts: asked,
    samples,
    memoryMb: process.memoryUsage().rss / 1024 ** 2,
  }
}

async function makeMachines(count: number): Promise<void> {
  for (const table of ['vps_billing', 'vps_machine', 'vps_identity', 'vps_order', 'host'])
    await db.query(`truncate ${table} cascade`)
  await db.query(
    `insert into account (id, email, created_at) values ('acc_bench', 'a@b.net', now()) on conflict do nothing`,
  )
  await db.query(
    `insert into host (id, kind, region) select 'host-' || n, 'fake', 'east' from generate_series(1, $1::int) n`,
    [count],
  )
  await db.query(
    `insert into vps_order (id, account_id, status, product, os_id, hostname, service_id, price, price_hourly, created_at, expires_at)
     select 'ord_' || n, 'acc_bench', 'active', 'nano', 1, 'web', 'vps_' || n, 1, 1, now(), now()
     from generate_series(1, $1::int) n`,
    [count * MACHINES_EACH],
  )
  await insertMachines(db, count)
  await db.query('update vps_machine set ssh_ready = true')
  await db.query('vacuum analyze')
}

try {
  await migrate(db)
  const passes = {
    look: 'every machine looked at',
    wishes: 'wishes read',
    hosts: 'hosts asked',
    samples: 'machines measured',
  }
  for (let count = 10; count <= most; count *= 10) {
    const result = await measure(count)
    console.log(
      `${count} hosts, ${count * MACHINES_EACH} machines; ${result.memoryMb.toFixed(0)} MB of the service`,
    )
    const tell = (what: string, { service, postgres: database, wall }: Cost, everyMs?: number) => {
      const share = (seconds: number) =>
        everyMs === undefined ? '' : ` (${((seconds * 100_000) / everyMs).toFixed(1)} % of a core)`
      console.log(
        `  ${what}: ${wall.toFixed(2)} s; service ${service.toFixed(2)} s${share(service)}, PostgreSQL ${database.toFixed(2)} s${share(database)}`,
      )
    }
    tell('the first pass after a start', result.first)
    for (const [name, what] of Object.entries(passes))
      tell(
        `${what}, every ${EVERY_MS[name as keyof typeof EVERY_MS] / 1000} s`,
        result[name as keyof typeof EVERY_MS],
        EVERY_MS[name as keyof typeof EVERY_MS],
      )
  }
} finally {
  await db.end()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}
