import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sumOf } from '../machine/saving.ts'
import { SandboxError, type SandboxSize, type SandboxSnapshot } from '../ports/sandbox-runtime.ts'
import { isSnapshotId } from '../ports/sandbox-spec.ts'
import type { SavedState } from './saved-state.ts'

/** The state of a machine at one moment: its memory and devices, and its disk, with their sums. */
export interface KeptSnapshot {
  size: SandboxSize
  state: SavedState
  diskSha256: string
}

const RECORD = 'snapshot.json'
const PARTS = '.part'

/** Snapshots that are templates, a folder each. */
export function createSnapshots(folder: string) {
  const at = (id: string) => join(folder, id)
  const files = (id: string) => ({ state: join(at(id), 'state'), disk: join(at(id), 'disk.qcow2') })

  const find = async (id: string): Promise<KeptSnapshot | undefined> => {
    if (!isSnapshotId(id)) return undefined
    const text = await readFile(join(at(id), RECORD), 'utf8').catch(() => undefined)
    return text === undefined ? undefined : (JSON.parse(text) as KeptSnapshot)
  }
  const describe = (id: string, { size, state }: KeptSnapshot): SandboxSnapshot => ({
    id,
    size,
    bytes: state.bytes,
  })

  return {
    files,
    find,
    describe,

    /** Lets `fill` write state and disk, and keeps them when it has. */
    async keep(id: string, fill: (files: { state: string; disk: string }) => Promise<KeptSnapshot>) {
      const part = `${at(id)}${PARTS}`
      await rm(part, { recursive: true, force: true })
      await mkdir(part, { recursive: true, mode: 0o700 })
      try {
        const kept = await fill({ state: join(part, 'state'), disk: join(part, 'disk.qcow2') })
        await writeFile(join(part, RECORD), JSON.stringify(kept))
        await rename(part, at(id))
        return kept
      } finally {
        await rm(part, { recursive: true, force: true })
      }
    },

    /** Throws `snapshot_damaged` unless both are what was saved. */
    async check(id: string, { state, diskSha256 }: KeptSnapshot): Promise<void> {
      const { state: stateFile, disk } = files(id)
      const [stateSum, diskSum] = await Promise.all([sumOf(stateFile), sumOf(disk)])
      if (stateSum !== state.sha256 || diskSum !== diskSha256)
        throw new SandboxError('snapshot_damaged', `Snapshot ${id} is not what was saved`)
    },

    async list(): Promise<SandboxSnapshot[]> {
      const names = await readdir(folder).catch(() => [])
      const found = await Promise.all(names.map(async (id) => [id, await find(id)] as const))
      return found.flatMap(([id, kept]) => (kept ? [describe(id, kept)] : []))
    },

    async remove(id: string): Promise<void> {
      if (isSnapshotId(id)) await rm(at(id), { recursive: true, force: true })
    },
  }
}

export type Snapshots = ReturnType<typeof createSnapshots>
