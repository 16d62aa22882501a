import { migrationSuite } from '../ports/suites/migration.suite.ts'
import { makeSpec } from '../testing.ts'
import { createFakeDriver } from './driver.ts'
import { createFakeMigration } from './migration.ts'
import { createFakeRetainedDisks } from './retained-disks.ts'

describeCluster('fake', 'web-1', true)
describeCluster('fake, without live moves', 'no-live-1', false)

function describeCluster(name: string, hostname: string, isLive: boolean) {
  migrationSuite(name, async () => {
    const clock = { now: () => new Date(0) }
    const hosts = ['one', 'two'].map((each) => ({ name: each, driver: createFakeDriver({ clock }) }))
    const members = new Map(
      hosts.map(({ name: member, driver }) => [
        member,
        { driver, retainedDisks: createFakeRetainedDisks(driver) },
      ]),
    )
    const spec = { ...makeSpec(), hostname }
    await hosts[0]!.driver.ensure(spec)
    const machine = () => hosts.map(({ driver }) => driver.machines.get(spec.id)).find(Boolean)!
    return {
      migration: createFakeMigration(members),
      hosts: [hosts[0]!, hosts[1]!],
      spec,
      isLive,
      write: async (text) => {
        machine().inside.hostname = text
      },
      read: async () => machine().inside.hostname,
      bootId: async () => String(machine().starts),
    }
  })
}
