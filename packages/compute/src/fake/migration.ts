import type { VpsMigration } from '../ports/migration.ts'
import { DriverError } from '../ports/vps-driver.ts'
import type { FakeDriver } from './driver.ts'
import type { FakeRetainedDisks } from './retained-disks.ts'

/** A host of a fake cluster. */
export interface FakeMember {
  driver: FakeDriver
  retainedDisks: FakeRetainedDisks
}

export interface FakeMigration extends VpsMigration {
  /** Every move that was made, as `vps_... node1 node2`. */
  readonly moves: readonly string[]
}

/**
 * Moves fake machines. One whose host name begins with `no-live` can be moved only while it is stopped, and one that begins
 * with `no-move` not at all.
 */
export function createFakeMigration(
  members: ReadonlyMap<string, FakeMember>,
  { hasSharedDisks = false } = {},
): FakeMigration {
  const moves: string[] = []
  return {
    moves,
    async move(id, to) {
      const target = members.get(to)!
      const [from, source] = [...members].find(([, { driver }]) => driver.machines.has(id)) ?? []
      if (!from || !source) throw new DriverError('machine_unknown', `There is no machine ${id}`)
      if (from === to) return
      if (target.driver.isAway) throw new DriverError('guest_failed', `scripted: ${to} is away`)
      const machine = source.driver.machines.get(id)!
      const { hostname } = machine.spec
      if (hostname.startsWith('no-move')) throw new DriverError('guest_failed', 'scripted: it does not move')
      const { isAway } = source.driver
      if (isAway && !hasSharedDisks)
        throw new DriverError('unsupported', `scripted: the disk is on ${from}, which is away`)
      if (machine.startedAt && hostname.startsWith('no-live') && !isAway)
        throw new DriverError('unsupported', 'scripted: it can be moved only while it is stopped')
      target.driver.adopt(id, isAway ? { ...machine, startedAt: undefined } : machine)
      source.driver.give(id)
      target.retainedDisks.takeFrom(source.retainedDisks, id)
      moves.push(`${id} ${from} ${to}`)
    },
  }
}
