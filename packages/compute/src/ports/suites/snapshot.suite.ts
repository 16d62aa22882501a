import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeVpsId } from '../../testing.ts'
import type { VpsSnapshots } from '../snapshot.ts'
import type { DriverError, HostFeatures } from '../vps-driver.ts'

/** The subject of the suite: an implementation of the port, and ways to see what it does. */
export interface SnapshotsUnderTest {
  snapshots: VpsSnapshots
  features: Pick<HostFeatures, 'memorySnapshots' | 'guestCommands'>
  /** A machine that runs, and answers its guest agent where the host has a way to it. */
  id: string
  /** Writes into a file inside the machine, and reads it; both wait until the machine can be asked. */
  write(text: string): Promise<void>
  read(): Promise<string>
  /** Starts a program inside that lives on, and tells whether that very program still runs. */
  startProgram(): Promise<void>
  programRuns(): Promise<boolean>
  /** Makes a snapshot that was taken unreadable, where a test can. */
  damage?(snapshotId: string): Promise<void>
  close?(): Promise<void>
}

const TIMEOUT_MS = 6 * 60_000

/** The duties of every keeper of snapshots. The tests are one life of one machine, in order. */
export function vpsSnapshotsSuite(name: string, make: () => Promise<SnapshotsUnderTest>): void {
  describe(`${name}: the snapshots port`, { timeout: TIMEOUT_MS }, () => {
    let subject: SnapshotsUnderTest
    let id: string
    let snapshots: VpsSnapshots
    let hasMemory: boolean
    beforeAll(async () => {
      subject = await make()
      ;({ id, snapshots } = subject)
      hasMemory = subject.features.memorySnapshots
    }, TIMEOUT_MS)
    afterAll(() => subject?.close?.())
    const codeOf = (call: Promise<unknown>) =>
      call.then(
        () => 'none',
        (error: DriverError) => error.code,
      )

    test('error: an unknown machine, an unknown snapshot, an id that is none', async () => {
      const unknown = makeVpsId()
      expect(await codeOf(snapshots.take(unknown, 'one', { memory: false }))).toBe('machine_unknown')
      expect(await codeOf(snapshots.restore(id, 'never_taken'))).toBe('snapshot_unknown')
      expect(await codeOf(snapshots.take(id, '../escape', { memory: false }))).toBe('snapshot_unknown')
      expect(await snapshots.list(id)).toEqual([])
    })

    test('default: a state of memory goes on where it was, its programs running', async () => {
      await subject.write('before memory')
      await subject.startProgram()
      if (!hasMemory) {
        expect(await codeOf(snapshots.take(id, 'memory', { memory: true }))).toBe('unsupported')
        expect(await snapshots.list(id)).toEqual([])
        return
      }
      expect(await snapshots.take(id, 'memory', { memory: true })).toEqual({ consistency: 'memory' })
      await subject.write('after memory')
      await snapshots.restore(id, 'memory')
      expect(await subject.read()).toBe('before memory')
      expect(await subject.programRuns()).toBe(true)
    })

    test('error: a damaged one is refused, and the machine goes on as it was', async () => {
      if (!subject.damage) return
      await snapshots.take(id, 'damaged', { memory: hasMemory })
      await subject.write('not lost')
      await subject.damage('damaged')
      expect(await codeOf(snapshots.restore(id, 'damaged'))).toBe('snapshot_damaged')
      expect(await subject.read()).toBe('not lost')
      expect(await subject.programRuns()).toBe(true)
      await snapshots.remove(id, 'damaged')
    })

    test('default: a state of the disk comes back, and the machine boots from it', async () => {
      await subject.write('before disk')
      const { consistency } = await snapshots.take(id, 'disk', { memory: false })
      // Without a way to the guest's agent a host cannot tell it to write its file systems out.
      expect(subject.features.guestCommands ? ['guest'] : ['guest', 'crash']).toContain(consistency)
      await subject.write('after disk')
      await snapshots.restore(id, 'disk')
      expect(await subject.read()).toBe('before disk')
      expect(await subject.programRuns()).toBe(false)
    })

    test('behavior: taken twice is taken once', async () => {
      await subject.write('later')
      await snapshots.take(id, 'disk', { memory: false })
      expect((await snapshots.list(id)).sort()).toEqual(hasMemory ? ['disk', 'memory'] : ['disk'])
    })

    test('behavior: one that was taken before the machine booted anew still has its programs', async () => {
      if (!hasMemory) return
      await snapshots.restore(id, 'memory')
      expect(await subject.read()).toBe('before memory')
      expect(await subject.programRuns()).toBe(true)
    })

    test('behavior: removed is removed, however often', async () => {
      for (const each of ['memory', 'disk', 'disk', 'never_taken']) await snapshots.remove(id, each)
      expect(await snapshots.list(id)).toEqual([])
      expect(await codeOf(snapshots.restore(id, 'disk'))).toBe('snapshot_unknown')
      expect(await subject.read()).toBe(hasMemory ? 'before memory' : 'later')
    })
  })
}
