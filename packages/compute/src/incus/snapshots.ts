import { oneAtATime } from '@coinrack/host/one-at-a-time.ts'
import type { VpsSnapshots } from '../ports/snapshot.ts'
import { DriverError } from '../ports/vps-driver.ts'
import { type IncusClient, IncusError, isNotFound } from './client.ts'
import { type Instance, instanceName, isMachineId, KEY } from './instance.ts'

const SNAPSHOT_ID = /^\w+$/
/** Memory is written to the disk of the member. */
const LONGEST_MS = 20 * 60_000

/** Snapshots of Incus. Without an agent inside, a disk is kept as after a power cut. */
export function createIncusSnapshots(client: IncusClient): VpsSnapshots {
  const oneByOne = oneAtATime()
  const pathOf = (id: string) => `/1.0/instances/${instanceName(id)}`

  const known = async (id: string): Promise<Instance> => {
    try {
      if (isMachineId(id)) return (await client.get<Instance>(pathOf(id))).value
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    throw new DriverError('machine_unknown', `There is no machine ${id}`)
  }

  const list = async (id: string): Promise<string[]> => {
    await known(id)
    const { value } = await client.get<{ name: string }[]>(`${pathOf(id)}/snapshots`, {
      query: { recursion: '1' },
    })
    return value.map(({ name }) => name.split('/').at(-1)!)
  }

  const checkName = (snapshotId: string) => {
    if (!SNAPSHOT_ID.test(snapshotId))
      throw new DriverError('snapshot_unknown', `Not the id of a snapshot: ${snapshotId}`)
  }

  return {
    take: (id, snapshotId, { memory }) =>
      oneByOne(id, async () => {
        checkName(snapshotId)
        const isRunning = (await known(id)).status === 'Running'
        if (memory && !isRunning) throw new DriverError('guest_failed', `The machine ${id} does not run`)
        const consistency = memory ? 'memory' : isRunning ? 'crash' : 'off'
        if ((await list(id)).includes(snapshotId)) return { consistency }
        await client
          .change('POST', `${pathOf(id)}/snapshots`, {
            body: { name: snapshotId, stateful: memory },
            operationMs: LONGEST_MS,
          })
          .catch(async (error) => {
            if (!(error instanceof IncusError)) throw error
            if ((await list(id)).includes(snapshotId)) return
            throw asDriverError(error)
          })
        return { consistency }
      }),

    restore: (id, snapshotId) =>
      oneByOne(id, async () => {
        checkName(snapshotId)
        const before = await known(id)
        if (!(await list(id)).includes(snapshotId))
          throw new DriverError('snapshot_unknown', `${id} has no snapshot ${snapshotId}`)
        const { value } = await client.get<{ stateful: boolean }>(`${pathOf(id)}/snapshots/${snapshotId}`)
        await client
          .change('PUT', pathOf(id), {
            body: { restore: snapshotId, stateful: value.stateful },
            operationMs: LONGEST_MS,
          })
          .catch((error) => {
            throw error instanceof IncusError ? asDriverError(error) : error
          })
        // Incus brings back the old configuration as well; the keys of the service stay as they were.
        const ours = Object.fromEntries(Object.values(KEY).map((key) => [key, before.config[key] ?? '']))
        await client.change('PATCH', pathOf(id), { body: { config: ours } })
      }),

    remove: (id, snapshotId) =>
      oneByOne(id, async () => {
        await known(id)
        if (!SNAPSHOT_ID.test(snapshotId)) return
        await client.change('DELETE', `${pathOf(id)}/snapshots/${snapshotId}`).catch((error) => {
          if (!isNotFound(error)) throw error
        })
      }),

    list,
  }
}

function asDriverError(error: IncusError): DriverError {
  const isFull = /no space|disk quota|ENOSPC/i.test(error.message)
  return new DriverError(isFull ? 'no_space' : 'guest_failed', error.message, { cause: error })
}
