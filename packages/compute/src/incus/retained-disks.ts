import { oneAtATime } from '@coinrack/host/one-at-a-time.ts'
import type { RetainedDisks } from '../ports/retained-disks.ts'
import { DriverError } from '../ports/vps-driver.ts'
import { type IncusClient, isNotFound } from './client.ts'
import { type Instance, instanceName, isMachineId, KEY } from './instance.ts'

/*
 * A retained disk is the stopped instance itself under another name, without its network card and its snapshots. The
 * machine is an instance without a disk of its own meanwhile, that is: there is none, and the next `ensure` makes one.
 */

const KEPT_ID = /^\w+$/
const STOP_MS = 90_000
const keptName = (id: string, keptId: string) => `${instanceName(id)}-${keptId.replaceAll('_', '-')}`

type Consistency = 'crash' | 'off'

export function createIncusRetainedDisks(client: IncusClient): RetainedDisks {
  const oneByOne = oneAtATime()
  const pathOf = (name: string) => `/1.0/instances/${name}`

  const find = async (name: string): Promise<Instance | undefined> => {
    try {
      return (await client.get<Instance>(pathOf(name))).value
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  const checkIds = (id: string, keptId: string) => {
    if (!isMachineId(id)) throw new DriverError('machine_unknown', `There is no machine ${id}`)
    if (!KEPT_ID.test(keptId)) throw new DriverError('snapshot_unknown', `Not the id of a disk: ${keptId}`)
  }

  /** Another machine of the same id may not have the same hardware address. The next `ensure` puts a card in again. */
  const withoutCard = async (name: string) => {
    const { value, etag } = await client.get<Instance>(pathOf(name))
    const { eth0: _, ...devices } = value.devices
    await client.change('PUT', pathOf(name), { body: { ...value, devices }, headers: { 'If-Match': etag! } })
  }

  const rename = async (from: string, to: string) => {
    try {
      await client.change('POST', pathOf(from), { body: { name: to } })
    } catch (error) {
      // The answer may be lost, and the work done.
      if (await find(to)) return
      throw error
    }
  }

  return {
    setAside: (id, keptId) =>
      oneByOne(id, async () => {
        checkIds(id, keptId)
        const kept = keptName(id, keptId)
        const before = await find(kept)
        if (before) return { consistency: before.config[KEY.keptAs] as Consistency }
        const machine = await find(instanceName(id))
        if (!machine) throw new DriverError('machine_unknown', `There is no machine ${id}`)
        // Begun before, it may be stopped already.
        const isBegun = machine.config[KEY.kept] === keptId
        const now: Consistency = machine.status === 'Running' ? 'crash' : 'off'
        const consistency = isBegun ? (machine.config[KEY.keptAs] as Consistency) : now
        await client.change('PATCH', pathOf(machine.name), {
          body: { config: { [KEY.keptAs]: consistency, [KEY.kept]: keptId } },
        })
        if (machine.status === 'Running')
          await client.change('PUT', `${pathOf(machine.name)}/state`, {
            body: { action: 'stop', force: true },
            operationMs: STOP_MS,
          })
        const { value: snapshots } = await client.get<string[]>(`${pathOf(machine.name)}/snapshots`)
        for (const path of snapshots)
          await client.change('DELETE', path.split('?')[0]!).catch((error) => {
            if (!isNotFound(error)) throw error
          })
        await withoutCard(machine.name)
        await rename(machine.name, kept)
        return { consistency }
      }),

    async isSound(id, keptId) {
      if (!isMachineId(id) || !KEPT_ID.test(keptId)) return false
      return (await find(keptName(id, keptId))) !== undefined
    },

    putBack: (id, keptId) =>
      oneByOne(id, async () => {
        checkIds(id, keptId)
        const [kept, machine] = await Promise.all([find(keptName(id, keptId)), find(instanceName(id))])
        // It was put back already.
        if (!kept && machine?.config[KEY.kept] === keptId) return
        if (!kept) throw new DriverError('snapshot_unknown', `${id} has no retained disk ${keptId}`)
        if (machine) throw new DriverError('guest_failed', `The machine ${id} has a disk`)
        await rename(kept.name, instanceName(id))
      }),

    remove: (id, keptId) =>
      oneByOne(id, async () => {
        if (!isMachineId(id) || !KEPT_ID.test(keptId)) return
        await client.change('DELETE', pathOf(keptName(id, keptId))).catch((error) => {
          if (!isNotFound(error)) throw error
        })
      }),

    async list(id) {
      const { value } = await client.get<Instance[]>('/1.0/instances', { query: { recursion: '1' } })
      return value
        .filter(({ name }) => name.startsWith(`${instanceName(id)}-`))
        .flatMap(({ config }) => config?.[KEY.kept] ?? [])
    },
  }
}
