import { vpsConsoleSuite } from '../ports/suites/console.suite.ts'
import { makeSpec } from '../testing.ts'
import { createFakeConsole } from './console.ts'
import { createFakeDriver } from './driver.ts'

vpsConsoleSuite('fake', async () => {
  const driver = createFakeDriver({ clock: { now: () => new Date(0) } })
  const spec = makeSpec()
  await driver.ensure(spec)
  return { console: createFakeConsole(driver), features: driver.features, id: spec.id }
})
