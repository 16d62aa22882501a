import { retainedDisksSuite } from '../ports/suites/retained-disks.suite.ts'
import { makeSpec } from '../testing.ts'
import { createFakeDriver } from './driver.ts'
import { createFakeRetainedDisks } from './retained-disks.ts'

retainedDisksSuite('fake', async () => {
  const driver = createFakeDriver({ clock: { now: () => new Date(0) } })
  const spec = makeSpec()
  await driver.ensure(spec)
  const retainedDisks = createFakeRetainedDisks(driver)
  const inside = () => driver.machines.get(spec.id)!.inside
  return {
    retainedDisks,
    driver,
    spec,
    write: async (text) => {
      inside().hostname = text
    },
    read: async () => inside().hostname,
    damage: async (keptId) => retainedDisks.damage(spec.id, keptId),
  }
})
