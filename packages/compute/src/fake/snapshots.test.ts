import { vpsSnapshotsSuite } from '../ports/suites/snapshot.suite.ts'
import { makeSpec } from '../testing.ts'
import { createFakeDriver } from './driver.ts'
import { createFakeSnapshots } from './snapshots.ts'

vpsSnapshotsSuite('fake', async () => {
  const driver = createFakeDriver({ clock: { now: () => new Date(0) } })
  const spec = makeSpec()
  await driver.ensure(spec)
  const snapshots = createFakeSnapshots(driver)
  const inside = () => snapshots.stateOf(spec.id)
  return {
    snapshots,
    features: driver.features,
    id: spec.id,
    write: async (text) => {
      inside().file = text
    },
    read: async () => inside().file,
    startProgram: async () => {
      inside().program = 1
    },
    programRuns: async () => inside().program === 1,
    damage: async (snapshotId) => snapshots.damage(spec.id, snapshotId),
  }
})
