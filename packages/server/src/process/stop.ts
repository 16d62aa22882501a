import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { removeGroup } from '@coinrack/compute/machine/control-groups/control-groups.ts'
import { type Machine, machineAt } from '@coinrack/compute/machine/machine.ts'
import { stopMachine } from '@coinrack/compute/machine/machine-process.ts'
import { removeNetwork } from '@coinrack/compute/network/machine-networks.ts'
import { adoptDetached, stopDetached } from '@coinrack/host/detached-process.ts'
import { type Config, ConfigError, loadConfig } from '../config/config.ts'
import { readConfigFile } from '../config/read-config-file.ts'
import { dataLayout } from '../data-folder/data-layout.ts'
import { stopEmbeddedPostgres } from '../database/embedded.ts'

/*
 * `npm run stop`: ends the services of the data folder and every program that it left running there. State stays.
 */

/** A service that ends takes its requests in flight to their end, once it takes no more. */
const SERVICE_MS = 30_000
/** How long a machine has to shut down by itself before its power is cut. */
const MACHINE_MS = 30_000
const PROGRAM_MS = 20_000

async function stopAll({ dataFolder, guestControlGroup, drainSeconds }: Config): Promise<void> {
  const { machines, sandboxes, run, services, postgresPidFile } = dataLayout(dataFolder)
  // The services first, so that nothing is started again; the database last, as the others may still be writing.
  await Promise.all(
    (await namesIn(services)).map((name) => {
      const pidFile = join(services, name)
      return end('service', pidFile, () =>
        stopDetached(pidFile, { timeoutMs: SERVICE_MS + drainSeconds * 1000 }),
      )
    }),
  )

  const vpsMachines = (await namesIn(machines)).map((id) => machineAt(machines, id))
  const endVps = async (machine: Machine) => {
    await stopMachine(machine, MACHINE_MS)
    await removeNetwork(machine.id)
    await removeGroup(guestControlGroup, machine.id)
  }
  await Promise.all(vpsMachines.map((machine) => end(machine.id, machine.pidFile, () => endVps(machine))))

  // Running sandboxes end with the service that is paid for them; paused ones stay.
  const sandboxMachines = (await namesIn(sandboxes))
    .filter((name) => name.startsWith('sbm'))
    .map((id) => machineAt(sandboxes, id))
  const endSandbox = async (machine: Machine) => {
    await stopDetached(machine.pidFile, { signal: 'SIGKILL' })
    await removeNetwork(machine.id)
    await removeGroup(guestControlGroup, machine.id)
  }
  await Promise.all(
    sandboxMachines.map((machine) => end(machine.id, machine.pidFile, () => endSandbox(machine))),
  )

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
