import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeVpsId } from '../../testing.ts'
import type { KeptDisks } from '../retained-disks.ts'
import type { DriverError, VpsDriver, VpsSpec } from '../vps-driver.ts'

/** What the suite needs to know and do besides the port. */
export interface KeptDisksUnderTest {
  keptDisks: KeptDisks
  driver: VpsDriver
  /** Of a machine that runs, its first boot complete, and answers its guest agent. */
  spec: VpsSpec
  /** Writes into a file inside the machine, and reads it; both wait until the machine can be asked. */
  write(text: string): Promise<void>
  read(): Promise<string>
  damage(keptId: string): Promise<void>
  close?(): Promise<void>
}

const TIMEOUT_MS = 6 * 60_000

/** What every keeper of disks must do. The tests are one life of one machine, in order; it is destroyed in the end. */
export function keptDisksSuite(name: string, make: () => Promise<KeptDisksUnderTest>): void {
  describe(`${name}: the kept disks port`, { timeout: TIMEOUT_MS }, () => {
    let subject: KeptDisksUnderTest
    let id: string
    let keptDisks: KeptDisks
    beforeAll(async () => {
      subject = await make()
      keptDisks = subject.keptDisks
      id = subject.spec.id
    }, TIMEOUT_MS)
    afterAll(() => subject?.close?.())
    const codeOf = (call: Promise<unknown>) =>
      call.then(
        () => 'none',
        (error: DriverError) => error.code,
      )

    test('error: an unknown machine, an unknown disk, an id that is none', async () => {
      expect(await codeOf(keptDisks.setAside(makeVpsId(), 'one'))).toBe('machine_unknown')
      expect(await codeOf(keptDisks.setAside(id, '../escape'))).toBe('snapshot_unknown')
      expect(await codeOf(keptDisks.putBack(makeVpsId(), 'never'))).toBe('snapshot_unknown')
      expect(await keptDisks.isSound(id, 'never')).toBe(false)
      expect(await keptDisks.list(id)).toEqual([])
      await keptDisks.remove(id, 'never')
    })

    test('default: a disk outlives its machine, and another machine of that id has it again', async () => {
      await subject.write('of the first disk')
      expect(await keptDisks.setAside(id, 'first')).toEqual({ consistency: 'guest' })
      expect(await keptDisks.setAside(id, 'first')).toEqual({ consistency: 'guest' })
      expect(await subject.driver.observe(id)).toMatchObject({ state: 'stopped' })
      await subject.driver.destroy(id)
      expect(await keptDisks.list(id)).toEqual(['first'])
      expect(await keptDisks.isSound(id, 'first')).toBe(true)
      await keptDisks.putBack(id, 'first')
      await keptDisks.putBack(id, 'first')
      expect(await keptDisks.list(id)).toEqual([])
      expect(await subject.driver.observe(id)).toMatchObject({ state: 'stopped' })
      await subject.driver.ensure(subject.spec)
      expect(await subject.driver.observe(id)).toMatchObject({ state: 'stopped' })
      await subject.driver.power(id, 'start')
      expect(await subject.read()).toBe('of the first disk')
    })

    test('error: a machine that has a disk keeps it', async () => {
      await subject.driver.power(id, 'stop')
      expect(await keptDisks.setAside(id, 'second')).toEqual({ consistency: 'off' })
      await subject.driver.destroy(id)
      await subject.driver.ensure(subject.spec)
      expect(await codeOf(keptDisks.putBack(id, 'second'))).toBe('guest_failed')
      await subject.driver.destroy(id)
    })

    test('behavior: a damaged one is known to be, and removed is removed', async () => {
      expect(await keptDisks.isSound(id, 'second')).toBe(true)
      await subject.damage('second')
      expect(await keptDisks.isSound(id, 'second')).toBe(false)
      for (let time = 0; time < 2; time++) await keptDisks.remove(id, 'second')
      expect(await keptDisks.list(id)).toEqual([])
      expect(await subject.driver.observe(id)).toMatchObject({ state: 'absent' })
    })
  })
}
