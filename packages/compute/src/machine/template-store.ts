import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { appendFile, chmod, copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lockFile } from '@coinrack/host/file-lock.ts'
import { oneAtATime } from '@coinrack/host/one-at-a-time.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import type { BuiltImage } from '../images/image-store.ts'
import { QEMU } from './command-line.ts'
import { sha256, sumOf, type TemplateRecord, templateFiles } from './saving.ts'
import type { SealedMemory } from './sealed-memory.ts'
import { sealMemory } from './sealed-memory.ts'

/** A booted machine that clones begin as; loaded, and checked against the sums that it was saved with. */
export interface Template {
  key: string
  record: TemplateRecord
  /**
   * Disk, memory and state are of one moment, so the small ones are held too: files may be replaced meanwhile. A large disk is
   * held as the descriptor of its file; see `writeDisk`.
   */
  disk: Buffer | number
  memory: SealedMemory
  state: Buffer
  /** How many clones were begun. */
  clones: number
}

export interface TemplateStore<Shape> {
  /**
   * Lets `use` make one clone of the shape's template, when there is one; otherwise nothing is done, and one is built
   * in the background.
   * @returns what `use` returned, or undefined when there is no template
   */
  clone<T>(shape: Shape, use: (template: Template) => Promise<T>): Promise<T | undefined>
  /** Builds the shape's template now, unless there is one that is good for a while. @returns whether there is one then */
  keep(shape: Shape): Promise<boolean>
  /** Removes the shape's template, if there is one. Clones live on. */
  remove(shape: Shape): Promise<void>
}

const MIB = 1024 ** 2
const HOUR_MS = 3_600_000
/** The secrets that a clone can't shed before its first reboot are common to this many, made within this time. */
const CLONES_AT_MOST = 50
const LIVES_MS = 24 * HOUR_MS
/** When so much of that is over, the next one is built, so that it is there in time. */
const RENEW_AT = 0.8
/** Each loaded one holds what its guest had touched of its memory. */
const LOADED_AT_MOST = 6
/** A larger disk is not held in memory. */
const HELD_DISK_BYTES = 64 * MIB
/** Longer than the start of a clone takes. */
const CLOSE_MS = 60_000
const TRY_AGAIN_MS = 10 * 60_000
/** QEMU may be upgraded while the service runs. */
const VERSION_HOLDS_MS = 60_000

/** How a template stands: `expiring` may be cloned while the next is built. */
export function judgeTemplate(
  builtAt: Date,
  clones: number,
  now: Date,
  clonesAtMost = CLONES_AT_MOST,
): 'good' | 'expiring' | 'expired' {
  const used = Math.max((now.getTime() - builtAt.getTime()) / LIVES_MS, clones / clonesAtMost)
  if (used >= 1) return 'expired'
  return used >= RENEW_AT ? 'expiring' : 'good'
}

export interface TemplateStoreOptions<Shape> {
  /** Templates lie here, a folder each. They may be removed at any time: clones have all that they need of them. */
  folder: string
  /** Names the template of a shape: all that its state depends on, the version of QEMU included. */
  keyOf(shape: Shape, version: string): Promise<string>
  /** Makes the folder `out`, whole or not at all. */
  build(shape: Shape, out: string): Promise<{ memory: SealedMemory }>
  /** Default `CLONES_AT_MOST`. */
  clonesAtMost?: number
  /** How many hold memory of the host at the same time: those that were used last. Default 6. */
  loadedAtMost?: number
  clock: { now(): Date }
  log: { info(fields: object, message: string): void }
}

export function createTemplateStore<Shape extends { image: Pick<BuiltImage, 'name'> }>(
  options: TemplateStoreOptions<Shape>,
): TemplateStore<Shape> {
  const { folder, clonesAtMost = CLONES_AT_MOST, loadedAtMost = LOADED_AT_MOST, clock, log } = options
  const loaded = new Map<string, Promise<Template | undefined>>()
  const building = new Map<string, Promise<void>>()
  const failedAt = new Map<string, number>()
  const oneByOne = oneAtATime()
  let qemu: { version: string; at: number } | undefined

  const standing = ({ record, clones }: Template) =>
    judgeTemplate(new Date(record.builtAt), clones, clock.now(), clonesAtMost)

  const find = (key: string): Promise<Template | undefined> => {
    const known = loaded.get(key)
    // The one used last stands last, and is forgotten last.
    loaded.delete(key)
    const finding = known ?? loadTemplate(join(folder, key), key, log)
    loaded.set(key, finding)
    for (const oldest of loaded.keys()) if (loaded.size > loadedAtMost) forget(oldest)
    const dropWhenNone = (template?: Template) => {
      if (!template && loaded.get(key) === finding) loaded.delete(key)
    }
    finding.then(dropWhenNone, () => dropWhenNone())
    return finding
  }

  const keyOf = async (shape: Shape) => {
    const now = clock.now().getTime()
    if (!qemu || now - qemu.at > VERSION_HOLDS_MS)
      qemu = { version: (await runCommand(QEMU, ['--version'])).stdout, at: now }
    return options.keyOf(shape, qemu.version)
  }

  /** A clone in the making has it open: its memory is given back later, when nothing refers to it. */
  const forget = (key: string) => {
    const forgotten = loaded.get(key)
    loaded.delete(key)
    void forgotten?.then((template) => template && setTimeout(() => letGo(template), CLOSE_MS).unref())
  }

  const build = async (shape: Shape, key: string): Promise<void> => {
    const about = { template: key, image: shape.image.name }
    try {
      await mkdir(folder, { recursive: true, mode: 0o755 })
      const { lock } = await lockFile(join(folder, 'build.pid'))
      if (!lock) return
      try {
        await removeOld(folder, clock.now())
        log.info(about, 'building a template')
        const { memory } = await options.build(shape, join(folder, key))
        closeSync(memory.descriptor)
      } finally {
        await lock.release()
      }
      forget(key)
      failedAt.delete(key)
      const template = await find(key)
      log.info({ ...about, memoryBytes: template && heldBytes(template) }, 'template built')
    } catch (error) {
      failedAt.set(key, clock.now().getTime())
      log.info({ ...about, err: error }, 'building a template failed')
    }
  }

  const renew = (shape: Shape, key: string): Promise<void> => {
    const running = building.get(key)
    if (running) return running
    if (clock.now().getTime() - (failedAt.get(key) ?? Number.NEGATIVE_INFINITY) < TRY_AGAIN_MS)
      return Promise.resolve()
    const work = oneByOne('build', () => build(shape, key)).finally(() => building.delete(key))
    building.set(key, work)
    return work
  }

  return {
    async clone(shape, use) {
      const key = await keyOf(shape)
      const template = await find(key)
      const now = template ? standing(template) : 'expired'
      if (now !== 'good') void renew(shape, key)
      if (!template || now === 'expired') return undefined
      // Counted before it begins, for the next service too: a byte in a file that may have been removed.
      template.clones++
      await appendFile(join(folder, key, templateFiles.uses), '.').catch(() => {})
      return use(template)
    },

    async keep(shape) {
      const key = await keyOf(shape)
      const template = await find(key)
      if (!template || standing(template) !== 'good') await renew(shape, key)
      return (await find(key)) !== undefined
    },

    async remove(shape) {
      const key = await keyOf(shape)
      await building.get(key)
      forget(key)
      failedAt.delete(key)
      await rm(join(folder, key), { recursive: true, force: true })
    },
  }
}

/** Writes the disk of a template's clone, as it was when the template was saved. */
export async function writeDisk({ disk }: Pick<Template, 'disk'>, path: string): Promise<void> {
  if (typeof disk !== 'number') return writeFile(path, disk, { mode: 0o600 })
  await copyFile(`/proc/self/fd/${disk}`, path, constants.COPYFILE_FICLONE)
  await chmod(path, 0o600)
}

function letGo({ memory, disk }: Pick<Template, 'memory' | 'disk'>): void {
  closeSync(memory.descriptor)
  if (typeof disk === 'number') closeSync(disk)
}

/** The template in a folder; undefined when there is none, or when any of it is not as it was saved. */
async function loadTemplate(
  folder: string,
  key: string,
  log: TemplateStoreOptions<never>['log'],
): Promise<Template | undefined> {
  const file = (name: string) => join(folder, name)
  const text = await readFile(file(templateFiles.record), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  let memory: SealedMemory | undefined
  let disk: Template['disk'] | undefined
  try {
    const record = JSON.parse(text) as TemplateRecord
    const state = await readFile(file(templateFiles.state))
    if (sha256(state) !== record.stateSha256) throw new Error('its state is not as it was saved')
    const isLarge = (await stat(file(templateFiles.disk))).size > HELD_DISK_BYTES
    disk = isLarge ? openSync(file(templateFiles.disk), 'r') : await readFile(file(templateFiles.disk))
    const diskSha256 = typeof disk === 'number' ? await sumOf(`/proc/self/fd/${disk}`) : sha256(disk)
    if (diskSha256 !== record.diskSha256) throw new Error('its disk is not as it was saved')
    memory = await sealMemory(file(templateFiles.memory), record.memoryMb * MIB)
    if (memory.sha256 !== record.memorySha256) throw new Error('its memory is not as it was saved')
    const clones = (await stat(file(templateFiles.uses)).catch(() => undefined))?.size ?? 0
    return { key, record, disk, memory, state, clones }
  } catch (error) {
    log.info({ template: key, reason: (error as Error).message }, 'template damaged')
    if (memory) closeSync(memory.descriptor)
    if (typeof disk === 'number') closeSync(disk)
    await rm(folder, { recursive: true, force: true })
    return undefined
  }
}

/** The host memory that the template holds. */
const heldBytes = ({ memory }: Template) => fstatSync(memory.descriptor).blocks * 512

/** Removes templates that must not be cloned any more, and builds that were cut short. Called by the only builder. */
async function removeOld(folder: string, now: Date): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue
    const text = await readFile(join(folder, entry.name, templateFiles.record), 'utf8').catch(() => undefined)
    const record = text === undefined ? undefined : (JSON.parse(text) as TemplateRecord)
    if (record && now.getTime() - new Date(record.builtAt).getTime() < LIVES_MS) continue
    await rm(join(folder, entry.name), { recursive: true, force: true })
  }
}
