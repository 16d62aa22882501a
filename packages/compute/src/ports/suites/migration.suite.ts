import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeVpsId } from '../../testing.ts'
import type { VpsMigration } from '../migration.ts'
import type { DriverError, VpsDriver, VpsSpec } from '../vps-driver.ts'

/** The subject of the suite: an implementation of the port, and ways to see what it does. */
export interface MigrationUnderTest {
  migration: VpsMigration
  /** Two hosts of one cluster, with their names in it; the machine is on the first. */
  hosts: [Host, Host]
  /** The spec of a machine that runs, whose first boot is complete. */
  spec: VpsSpec
  /** Writes into a file inside the machine, and reads it; both wait until the machine can be asked. */
  write(text: string): Promise<void>
  read(): Promise<string>
  /** Says something else after each boot of the guest. */
  bootId(): Promise<string>
  /** Whether machines that run can be moved here. */
  isLive: boolean
  close?(): Promise<void>
}

interface Host {
  name: string
  driver: VpsDriver
}

const TIMEOUT_MS = 6 * 60_000

/** The duties of every cluster that moves machines. The tests are one life of one machine, in order. */
export function migrationSuite(name: string, make: () => Promise<MigrationUnderTest>): void {
  describe(`${name}: the migration port`, { timeout: TIMEOUT_MS }, () => {
    let subject: MigrationUnderTest
    let id: string
    beforeAll(async () => {
      subject = await make()
      id = subject.spec.id
    }, TIMEOUT_MS)
    afterAll(() => subject?.close?.())
    const move = (host: Host, machine = id) => subject.migration.move(machine, host.name)
    const codeOf = (call: Promise<unknown>) =>
      call.then(
        () => 'none',
        (error: DriverError) => error.code,
      )
    const isOn = async ({ driver }: Host) => (await driver.inventory()).machines.includes(id)

    test('error: an unknown machine', async () => {
      expect(await codeOf(move(subject.hosts[1], makeVpsId()))).toBe('machine_unknown')
    })

    test('default: one that runs goes on running on the other host', async () => {
      const [one, other] = subject.hosts
      await subject.write('before the move')
      const before = await subject.bootId()
      const code = await codeOf(move(other))
      if (!subject.isLive) {
        expect(code).toBe('unsupported')
        expect([await isOn(one), await isOn(other)]).toEqual([true, false])
        return
      }
      expect(code).toBe('none')
      expect([await isOn(one), await isOn(other)]).toEqual([false, true])
      expect((await other.driver.observe(id)).state).toBe('running')
      expect(await subject.read()).toBe('before the move')
      expect(await subject.bootId()).toBe(before)
    })

    test('behavior: one that is there already stays as it is', async () => {
      const [one, other] = subject.hosts
      const there = (await isOn(other)) ? other : one
      const before = await subject.bootId()
      await move(there)
      expect(await subject.bootId()).toBe(before)
    })

    test('behavior: a stopped one moves with its disk, and starts there', async () => {
      const [one, other] = subject.hosts
      const [from, to] = (await isOn(other)) ? [other, one] : [one, other]
      await subject.write('before it was stopped')
      await from.driver.power(id, 'stop')
      for (let time = 0; time < 2; time++) await move(to)
      expect([await isOn(from), await isOn(to)]).toEqual([false, true])
      expect((await to.driver.observe(id)).state).toBe('stopped')
      await to.driver.ensure(subject.spec)
      await to.driver.power(id, 'start')
      expect(await subject.read()).toBe('before it was stopped')
    })
  })
}
