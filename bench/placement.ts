import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { prepareDataFolder } from '@coinrack/server/data-folder/data-folder.ts'
import { startEmbeddedPostgres } from '@coinrack/server/database/embedded.ts'
import { migrate } from '@coinrack/server/database/migrate.ts'
import { openPool } from '@coinrack/server/database/pool.ts'
import { inTransaction } from '@coinrack/server/database/transaction.ts'
import { type Placing, placeMachine } from '@coinrack/server/hosts/place-machine.ts'
import type { MachineHost } from '@coinrack/server/platform/machine-host.ts'
import { insertMachines } from './insert-machines.ts'
import { postgresSeconds } from './postgres-seconds.ts'

/*
 * The cost of placing a machine on one of 10, of 100 and of 1,000 hosts, with 30 machines each unless said otherwise: processor time of the
 * service and of PostgreSQL per placement, the 99th percentile of how long one takes, and how both grow.
 * Each placement is a transaction of its own that is rolled back, several at a time.
 * `npm run bench:placement -- [placements] [machines of each host]`
 */

const [placements = 1_000, machinesEach = 30] = process.argv.slice(2).map(Number)
const HOSTS = [10, 100, 1_000]
const AT_ONCE = 4

const folder = await mkdtemp('/tmp/coinrack-bench-')
const user = await serviceUser()
await prepareDataFolder(folder, user)
const postgres = await startEmbeddedPostgres({ dataFolder: folder, cacheFolder: join(folder, 'cache'), user })
const db = openPool(postgres.url, { size: AT_ONCE + 1, onError: () => {} })

const network = {
  publicIp: '192.0.2.1',
  sshPorts: { from: 20_000, to: 29_999 },
  addressPool: [],
  addressGateway: undefined,
  ipv6Prefix: undefined,
}
const wanted = { memory_mb: 512, disk_gb: 10, network: 'nat', image: 'debian-12', region: 'east' } as const

class TakenBack extends Error {}

async function place(services: Placing): Promise<number> {
  const begun = performance.now()
  await inTransaction(db, async (tx) => {
    if (typeof (await placeMachine(tx, services, wanted)) === 'string') throw new Error('No host had room')
    throw new TakenBack()
  }).catch((error) => {
    if (!(error instanceof TakenBack)) throw error
  })
  return performance.now() - begun
}

async function measure(count: number) {
  await makeHosts(count)
  const hosts = new Map(
    Array.from({ length: count }, (_, n) => [
      `host-${n + 1}`,
      { id: `host-${n + 1}`, network } as unknown as MachineHost,
    ]),
  )
  const services = {
    config: { sandboxOvercommit: 1 },
    hosts,
    random: { bytes: randomBytes },
  } as unknown as Placing
  for (let round = 0; round < 20; round++) await place(services)
  const before = { service: process.cpuUsage(), postgres: await postgresSeconds(folder) }
  const took: number[] = []
  const one = async () => {
    while (took.length < placements) took.push(await place(services))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
  const { user: inUser, system } = process.cpuUsage(before.service)
  const service = (inUser + system) / 1_000 / took.length
  const database = (((await postgresSeconds(folder)) - before.postgres) * 1_000) / took.length
  const p99 = took.sort((a, b) => a - b)[Math.ceil(took.length * 0.99) - 1]!
  return { count, service, database, p99 }
}

async function makeHosts(count: number): Promise<void> {
  for (const table of ['vps_billing', 'vps_machine', 'vps_identity', 'vps_order', 'host'])
    await db.query(`delete from ${table}`)
  await db.query(
    `insert into account (id, email, created_at) values ('acc_bench', 'a@b.net', now()) on conflict do nothing`,
  )
  await db.query(
    `insert into host (id, kind, region, vcpus, memory_mb, disk_gb, features, images, seen_at)
     select 'host-' || n, 'fake', case when n % 2 = 0 then 'east' else 'west' end, 64, 65536, 2000, '{firewall,own_addresses,port_forwarding}',
       '[{"slug": "debian-12", "state": "ready"}, {"slug": "debian-13", "state": "ready"}]', now()
     from generate_series(1, $1::int) n`,
    [count],
  )
  await db.query(
    `insert into vps_order (id, account_id, status, product, os_id, hostname, service_id, price, price_hourly, created_at, expires_at)
     select 'ord_' || n, 'acc_bench', 'active', 'nano', 1, 'web', 'vps_' || n, 1, 1, now(), now()
     from generate_series(1, $1::int) n`,
    [count * machinesEach],
  )
  await insertMachines(db, count)
  await db.query('vacuum analyze')
}

try {
  await migrate(db)
  const results = []
  for (const count of HOSTS) results.push(await measure(count))
  const [first] = results
  for (const { count, service, database, p99 } of results)
    console.log(
      `${count} hosts: ${service.toFixed(2)} ms of the service and ${database.toFixed(2)} ms of PostgreSQL per placement (${((service + database) / (first!.service + first!.database)).toFixed(2)} of that with ${first!.count}); p99 ${p99.toFixed(1)} ms (${(p99 / first!.p99).toFixed(2)})`,
    )
} finally {
  await db.end()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}
