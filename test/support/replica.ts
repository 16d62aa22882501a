import { openDataFolder } from '@coinrack/server/data-folder/data-folder.ts'
import { dataLayout } from '@coinrack/server/data-folder/data-layout.ts'
import { demandSameInstallation } from '@coinrack/server/database/installation.ts'
import { hostElsewhere } from '@coinrack/server/hosts/host-elsewhere.ts'
import { LOCAL_HOST } from '@coinrack/server/platform/machine-host.ts'
import { serve } from '@coinrack/server/process/serve.ts'
import { createTestWorld } from '@coinrack/server/process/testing-world.ts'
import { pino } from 'pino'
import { killAt } from './kill-at.ts'
import { sharedHostAt } from './shared-host.ts'

/*
 * The service as a process of its own, as `main.ts` runs it, but on the fakes of machine, mail and chain. Settings come
 * from the environment; the machines live in this process and end with it.
 */

const ROOM = { vcpus: 1_000_000, memoryMb: 1_000_000_000, diskGb: 1_000_000_000 }

const env = process.env as Record<string, string>
const clock = { now: () => new Date() }
const world = await createTestWorld(
  { databaseUrl: env.DATABASE_URL!, clock },
  { env, driver: { capacity: ROOM } },
)
const { config, db } = world.services
if (!config.localMachines) {
  const { region, network } = world.services.hosts.get(LOCAL_HOST)!
  world.services.hosts = new Map([...world.services.hosts, [LOCAL_HOST, hostElsewhere(region, network)]])
}
if (env.TEST_SHARED_HOST) {
  const host = sharedHostAt(env.TEST_SHARED_HOST, config)
  world.services.hosts = new Map([...world.services.hosts, [host.id, host]])
}
// On standard output, where the test reads that there is nothing.
world.services.log = pino({ level: 'error' })

const folder = await openDataFolder({
  path: config.dataFolder,
  profile: config.profile,
  port: config.port,
  user: undefined,
})
await demandSameInstallation(db, {
  profile: config.profile,
  folderId: config.localMachines ? folder.id : undefined,
  serverSecret: config.serverSecret!,
  depositSecret: config.depositSecret!,
})
await folder.started()
const { machinesPidFile } = dataLayout(config.dataFolder)
const end = await serve(world.services, { local: config.localMachines ? { machinesPidFile } : undefined })

if (env.TEST_KILL_AT) killAt(world.services, JSON.parse(env.TEST_KILL_AT))

process.on('SIGTERM', async () => {
  await end()
  await world.close()
  await folder.close()
  process.exit(0)
})
