import type { VpsMigration } from '../ports/migration.ts'
import { DriverError } from '../ports/vps-driver.ts'
import { type IncusClient, IncusError, isNotFound } from './client.ts'
import { type Instance, instanceName, isMachineId } from './instance.ts'

/** A disk of 100 GB takes a quarter of an hour at a gigabit per second. */
const MOVE_MS = 6 * 3_600_000

/** Moves instances between the members of a cluster: live where they run, with all that is kept of them. */
export function createIncusMigration(client: IncusClient): VpsMigration {
  const pathOf = (name: string) => `/1.0/instances/${name}`

  /** The machine and its retained disks, which are instances too. Read from the list, which also names what is on members that are away. */
  const instancesOf = async (id: string): Promise<Pick<Instance, 'name' | 'location' | 'status'>[]> => {
    const { value } = await client.get<Instance[]>('/1.0/instances', { query: { recursion: '1' } })
    return value.filter(({ name }) => name === instanceName(id) || name.startsWith(`${instanceName(id)}-`))
  }

  const moveInstance = async (name: string, to: string, live: boolean): Promise<void> => {
    try {
      await client.change('POST', pathOf(name), {
        query: { target: to },
        body: { name, migration: true, live },
        operationMs: MOVE_MS,
      })
    } catch (error) {
      // The answer may be lost, and the work done.
      const now = await client.get<Instance>(pathOf(name)).catch((failure) => {
        if (isNotFound(failure)) throw new DriverError('machine_unknown', `There is no instance ${name}`)
        return undefined
      })
      if (now?.value.location === to) return
      throw error
    }
  }

  return {
    async move(id, to) {
      const all = isMachineId(id) ? await instancesOf(id) : []
      const machine = all.find(({ name }) => name === instanceName(id))
      if (!machine) throw new DriverError('machine_unknown', `There is no machine ${id}`)
      const kept = all.filter(({ name, location }) => name !== machine.name && location !== to)
      try {
        for (const { name } of kept) await moveInstance(name, to, false)
        if (machine.location !== to) await moveInstance(machine.name, to, machine.status === 'Running')
      } catch (error) {
        throw asMoveError(error, machine)
      }
    },
  }
}

function asMoveError(error: unknown, { name, status }: Pick<Instance, 'name' | 'status'>): unknown {
  if (!(error instanceof IncusError)) return error
  const options = { cause: error }
  if (/no space|not enough|disk quota|ENOSPC/i.test(error.message))
    return new DriverError('no_space', error.message, options)
  if (status === 'Error')
    return new DriverError(
      'unsupported',
      `The disk of ${name} is on its member alone, which is away`,
      options,
    )
  if (status === 'Running')
    return new DriverError('unsupported', `${name} does not move while it runs: ${error.message}`, options)
  return new DriverError('guest_failed', error.message, options)
}
