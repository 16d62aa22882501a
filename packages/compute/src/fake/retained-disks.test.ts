import { keptDisksSuite } from '../ports/suites/retained-disks.suite.ts'
import { makeSpec } from '../testing.ts'
import { createFakeDriver } from './driver.ts'
import { createFakeKeptDisks } from './retained-disks.ts'

keptDisksSuite('fake', async () => {
  const driver = createFakeDriver({ clock: { now: () => new Date(0) } })
  const spec = makeSpec()
  await driver.ensure(spec)
  const keptDisks = createFakeKeptDisks(driver)
  const inside = () => driver.machines.get(spec.id)!.inside
  return {
    keptDisks,
    driver,
    spec,
    write: async (text) => {
      inside().hostname = text
    },
    read: async () => inside().hostname,
    damage: async (keptId) => keptDisks.damage(spec.id, keptId),
  }
})
