import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { removeGroup } from '@coinrack/compute/machine/control-groups/control-groups.ts'
import { type Guest, guestAt, stopGuest } from '@coinrack/compute/machine/machine.ts'
import { removeNetwork } from '@coinrack/compute/network/machine-networks.ts'
import { adoptDetached, stopDetached } from '@coinrack/host/detached-process.ts'
import { type Config, ConfigError, loadConfig } from '../config/config.ts'
import { readConfigFile } from '../config/read-config-file.ts'
import { dataLayout } from '../data-folder/data-layout.ts'
import { stopEmbeddedPostgres } from '../database/embedded.ts'

/*
 * `npm run stop`: ends the services of the data folder and every program that it left running there. State stays.
 */

/** A service that ends takes its requests in flight to their end. */
const SERVICE_MS = 30_000
/** How long a machine has to shut down by itself before its power is cut. */
const MACHINE_MS = 30_000
const PROGRAM_MS = 20_000

async function stopAll({ dataFolder, guestControlGroup }: Config): Promise<void> {
  const { machines, sandboxes, run, services, postgresPidFile } = dataLayout(dataFolder)
  // The services first, so that nothing is started again; the database last, as the others may still be writing.
  await Promise.all(
    (await namesIn(services)).map((name) => {
      const pidFile = join(services, name)
      return end('service', pidFile, () => stopDetached(pidFile, { timeoutMs: SERVICE_MS }))
    }),
  )

  const guests = (await namesIn(machines)).map((id) => guestAt(machines, id))
  const endGuest = async (guest: Guest) => {
    await stopGuest(guest, MACHINE_MS)
    await removeNetwork(guest.id)
    await removeGroup(guestControlGroup, guest.id)
  }
  await Promise.all(guests.map((guest) => end(guest.id, guest.pidFile, () => endGuest(guest))))

  // Running sandboxes end with the service that is paid for them; paused ones stay.
  const sandboxGuests = (await namesIn(sandboxes))
    .filter((name) => name.startsWith('sbm'))
    .map((id) => guestAt(sandboxes, id))
  const endSandbox = async (guest: Guest) => {
    await stopDetached(guest.pidFile, { signal: 'SIGKILL' })
    await removeNetwork(guest.id)
    await removeGroup(guestControlGroup, guest.id)
  }
  await Promise.all(sandboxGuests.map((guest) => end(guest.id, guest.pidFile, () => endSandbox(guest))))

  const names = (await namesIn(run, { recursive: true })).filter((name) => name.endsWith('.pid'))
  const others = names.map((name) => join(run, name)).filter((pidFile) => pidFile !== postgresPidFile)
  await Promise.all(
    others.map((pidFile) =>
      end(relative(run, pidFile).replace(/\.pid$/, ''), pidFile, () =>
        stopDetached(pidFile, { timeoutMs: PROGRAM_MS }),
      ),
    ),
  )
  await end('database', postgresPidFile, () => stopEmbeddedPostgres(dataFolder))
}

/** Ends one program, and says so when it ran. */
async function end(name: string, pidFile: string, stop: () => Promise<void>): Promise<void> {
  const pid = await adoptDetached(pidFile)
  if (pid) console.log(`Ending ${name} (process ${pid})`)
  // Also without a process: what a killed one left behind goes too.
  await stop()
}

async function namesIn(folder: string, options?: { recursive: boolean }): Promise<string[]> {
  try {
    return await readdir(folder, options)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

try {
  const config = loadConfig(process.env, readConfigFile)
  const { dataFolder } = config
  await stopAll(config)
  console.log(`Nothing runs on ${dataFolder} any more; npm start goes on from here.`)
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error)
  process.exitCode = 1
}
