import type { RetainedDisks } from '../ports/retained-disks.ts'
import { DriverError } from '../ports/vps-driver.ts'
import { demandFeature, type FakeDriver, type FakeMachine } from './driver.ts'

export interface FakeRetainedDisks extends RetainedDisks {
  damage(id: string, keptId: string): void
  /** Takes over those of a machine from another host. */
  takeFrom(other: FakeRetainedDisks, id: string): void
  /** Gives those of a machine away. */
  give(id: string): [string, KeptDisk][]
}

interface KeptDisk {
  machine: FakeMachine
  consistency: 'guest' | 'off'
  isDamaged: boolean
}

/** Disks of machines that are not there. Of one whose host name begins with `full-host`, `setAside` throws `no_space`. */
export function createFakeRetainedDisks(driver: FakeDriver): FakeRetainedDisks {
  const kept = new Map<string, KeptDisk>()
  const keyOf = (id: string, keptId: string) => {
    if (!/^[a-z0-9_]+$/.test(keptId)) throw new DriverError('snapshot_unknown', keptId)
    return `${id} ${keptId}`
  }

  return {
    damage(id, keptId) {
      kept.get(keyOf(id, keptId))!.isDamaged = true
    },

    takeFrom(other, id) {
      for (const [key, disk] of other.give(id)) kept.set(key, disk)
    },

    give(id) {
      const its = [...kept].filter(([key]) => key.startsWith(`${id} `))
      for (const [key] of its) kept.delete(key)
      return its
    },

    async setAside(id, keptId) {
      demandFeature(driver.features, 'retainedDisks')
      const key = keyOf(id, keptId)
      const known = kept.get(key)
      if (known) return { consistency: known.consistency }
      const machine = driver.machines.get(id)
      if (!machine?.hasDisk) throw new DriverError('machine_unknown', `There is no machine ${id}`)
      if (machine.spec.hostname.startsWith('full-host')) throw new DriverError('no_space', 'scripted: full')
      const consistency = machine.startedAt ? 'guest' : 'off'
      kept.set(key, { machine: structuredClone(machine), consistency, isDamaged: false })
      driver.crash(id)
      machine.hasDisk = false
      return { consistency }
    },

    async isSound(id, keptId) {
      return kept.get(keyOf(id, keptId))?.isDamaged === false
    },

    async putBack(id, keptId) {
      demandFeature(driver.features, 'retainedDisks')
      const key = keyOf(id, keptId)
      const found = kept.get(key)
      const hasDisk = driver.machines.get(id)?.hasDisk === true
      if (!found && !hasDisk)
        throw new DriverError('snapshot_unknown', `${id} has no retained disk ${keptId}`)
      if (!found) return
      if (hasDisk) throw new DriverError('guest_failed', `${id} has a disk`)
      driver.adopt(id, { ...found.machine, startedAt: undefined, isFirstBootComplete: true })
      kept.delete(key)
    },

    async remove(id, keptId) {
      kept.delete(keyOf(id, keptId))
    },

    list: async (id) =>
      [...kept.keys()].filter((key) => key.startsWith(`${id} `)).map((key) => key.split(' ')[1]!),
  }
}
