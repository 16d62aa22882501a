import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeVpsId } from '../../testing.ts'
import type { RetainedDisks } from '../retained-disks.ts'
import type { DriverError, HostFeatures, VpsDriver, VpsSpec } from '../vps-driver.ts'

/** The subject of the suite: an implementation of the port, and ways to see what it does. */
export interface RetainedDisksUnderTest {
  retainedDisks: RetainedDisks
  driver: VpsDriver
  /** Default: the host can ask the guest's agent. */
  features?: Pick<HostFeatures, 'guestCommands'>
  /** The spec of a machine that runs, whose first boot is complete, and which answers its guest agent. */
  spec: VpsSpec
  /** Writes into a file inside the machine, and reads it; both wait until the machine can be asked. */
  write(text: string): Promise<void>
  read(): Promise<string>
  /** Makes a disk that was kept unreadable, where a test can. */
  damage?(keptId: string): Promise<void>
  close?(): Promise<void>
}

const TIMEOUT_MS = 6 * 60_000

/** The duties of every keeper of disks. The tests are one life of one machine, in order; it is destroyed in the end. */
export function retainedDisksSuite(name: string, make: () => Promise<RetainedDisksUnderTest>): void {
  describe(`${name}: the retained disks port`, { timeout: TIMEOUT_MS }, () => {
    let subject: RetainedDisksUnderTest
    let id: string
    let retainedDisks: RetainedDisks
    beforeAll(async () => {
      subject = await make()
      retainedDisks = subject.retainedDisks
      id = subject.spec.id
    }, TIMEOUT_MS)
    afterAll(() => subject?.close?.())
    const codeOf = (call: Promise<unknown>) =>
      call.then(
        () => 'none',
        (error: DriverError) => error.code,
      )

    test('error: an unknown machine, an unknown disk, an id that is none', async () => {
      expect(await codeOf(retainedDisks.setAside(makeVpsId(), 'one'))).toBe('machine_unknown')
      expect(await codeOf(retainedDisks.setAside(id, '../escape'))).toBe('snapshot_unknown')
      expect(await codeOf(retainedDisks.putBack(makeVpsId(), 'never'))).toBe('snapshot_unknown')
      expect(await retainedDisks.isSound(id, 'never')).toBe(false)
      expect(await retainedDisks.list(id)).toEqual([])
      await retainedDisks.remove(id, 'never')
    })

    test('default: a disk outlives its machine, and another machine of that id has it again', async () => {
      await subject.write('of the first disk')
      const consistency = (subject.features?.guestCommands ?? true) ? 'guest' : 'crash'
      expect(await retainedDisks.setAside(id, 'first')).toEqual({ consistency })
      expect(await retainedDisks.setAside(id, 'first')).toEqual({ consistency })
      expect((await subject.driver.observe(id)).state).toMatch(/^(stopped|absent)$/)
      await subject.driver.destroy(id)
      expect(await retainedDisks.list(id)).toEqual(['first'])
      expect(await retainedDisks.isSound(id, 'first')).toBe(true)
      await retainedDisks.putBack(id, 'first')
      await retainedDisks.putBack(id, 'first')
      expect(await retainedDisks.list(id)).toEqual([])
      expect(await subject.driver.observe(id)).toMatchObject({ state: 'stopped' })
      await subject.driver.ensure(subject.spec)
      expect(await subject.driver.observe(id)).toMatchObject({ state: 'stopped' })
      await subject.driver.power(id, 'start')
      expect(await subject.read()).toBe('of the first disk')
    })

    test('error: a machine that has a disk keeps it', async () => {
      await subject.driver.power(id, 'stop')
      expect(await retainedDisks.setAside(id, 'second')).toEqual({ consistency: 'off' })
      await subject.driver.destroy(id)
      await subject.driver.ensure(subject.spec)
      expect(await codeOf(retainedDisks.putBack(id, 'second'))).toBe('guest_failed')
      await subject.driver.destroy(id)
    })

    test('behavior: a damaged one is known to be, and removed is removed', async () => {
      expect(await retainedDisks.isSound(id, 'second')).toBe(true)
      if (subject.damage) {
        await subject.damage('second')
        expect(await retainedDisks.isSound(id, 'second')).toBe(false)
      }
      for (let time = 0; time < 2; time++) await retainedDisks.remove(id, 'second')
      expect(await retainedDisks.list(id)).toEqual([])
      expect(await subject.driver.observe(id)).toMatchObject({ state: 'absent' })
    })
  })
}
