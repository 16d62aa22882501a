import { closeSync } from 'node:fs'
import { mkdir, mkdtemp, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { buildTemplate, type TemplateShape, templateKey } from '../local-vps/template.ts'
import { QEMU } from './command-line.ts'
import { sha256, type TemplateOptions, type TemplateRecord } from './saving.ts'
import { sealMemory } from './sealed-memory.ts'
import { createTemplateStore, judgeTemplate, type Template } from './template-store.ts'

const MIB = 1024 ** 2
const HOUR_MS = 3_600_000
const builtAt = new Date('2030-01-01T00:00:00Z')

test('default: good for a day and fifty clones, renewed before either is over', () => {
  const judge = (hours: number, clones: number) =>
    judgeTemplate(builtAt, clones, new Date(builtAt.getTime() + hours * HOUR_MS))
  expect(judge(0, 0)).toBe('good')
  expect(judge(19, 39)).toBe('good')
  expect(judge(20, 0)).toBe('expiring')
  expect(judge(0, 40)).toBe('expiring')
  expect(judge(23.9, 49)).toBe('expiring')
  expect(judge(24, 0)).toBe('expired')
  expect(judge(0, 50)).toBe('expired')
})

describe('a template that lies there', () => {
  let folder: string
  let template: string
  let said: string[]
  let now: Date
  const missing = '/nowhere'
  // Not built: a machine that boots it fails at once.
  const image = {
    name: 'debian-12-0',
    ...{ disk: missing, diskGb: 2, mbr: missing, kernel: missing, initrd: missing },
  }
  const shape = { image, vcpus: 1, memoryMb: 64 }

  const settings = (): TemplateOptions => ({
    ...{ baseImages: join(folder, 'base-images'), accelerator: 'tcg', clockOptions: [], networkKind: 'tap' },
    ...{ user: undefined, clock: { now: () => now }, niceness: 0 },
  })
  const newStore = () =>
    createTemplateStore({
      folder,
      keyOf: async (shape: TemplateShape, version) => templateKey(shape, settings(), version),
      build: (shape, out) => buildTemplate(shape, out, settings()),
      clock: { now: () => now },
      log: { info: (_, message) => void said.push(message) },
    })
  const cloneWith = (store: ReturnType<typeof newStore>) =>
    store.clone(shape, async ({ clones, disk }: Template) => `clone ${clones} on ${disk}`)

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'coinrack-templates-'))
    said = []
    now = builtAt
    const { stdout: version } = await runCommand(QEMU, ['--version'])
    template = join(folder, templateKey(shape, settings(), version))
    await mkdir(template)
    const lay = (name: string, text: string) => writeFile(join(template, name), text)
    await lay('disk.qcow2', 'disk')
    await lay('state', 'state')
    await lay('memory', 'memory')
    await truncate(join(template, 'memory'), 64 * MIB)
    const memory = await sealMemory(join(template, 'memory'), 64 * MIB)
    const sums = { memorySha256: memory.sha256, stateSha256: sha256(Buffer.from('state')) }
    const record: TemplateRecord = {
      ...{ image: image.name, vcpus: 1, memoryMb: 64, builtAt: builtAt.toISOString() },
      ...{ ...sums, diskSha256: sha256(Buffer.from('disk')) },
    }
    closeSync(memory.descriptor)
    await lay('template.json', JSON.stringify(record))
  })
  afterEach(() => rm(folder, { recursive: true }))

  const FAILED = 'building a template failed'
  /** Waits until the store has tried to build so many; that fails, as there is no image. */
  const tried = (times: number) =>
    vi.waitUntil(() => said.filter((message) => message === FAILED).length === times)

  test('default: it is used, and each use counts, for the next service as well', async () => {
    const store = newStore()
    expect(await cloneWith(store)).toBe('clone 1 on disk')
    expect(await cloneWith(store)).toBe('clone 2 on disk')
    expect(await cloneWith(newStore())).toBe('clone 3 on disk')
    expect(said).toEqual([])
  })

  test('behavior: another shape has another template', async () => {
    const store = newStore()
    expect(await store.clone({ ...shape, memoryMb: 128 }, async () => 'clone')).toBeUndefined()
    expect(await store.clone({ ...shape, vcpus: 2 }, async () => 'clone')).toBeUndefined()
    await tried(2)
  })

  test('behavior: one that has lived for a day is used no more', async () => {
    const store = newStore()
    await cloneWith(store)
    now = new Date(builtAt.getTime() + 24 * HOUR_MS)
    expect(await cloneWith(store)).toBeUndefined()
    await tried(1)
  })

  test.each(['disk.qcow2', 'state', 'memory'])(
    'error: one whose %s is not as it was saved is thrown away, and built anew',
    async (name) => {
      await writeFile(join(template, name), 'DAMAGED', { flag: 'r+' })
      expect(await cloneWith(newStore())).toBeUndefined()
      await tried(1)
      expect(said).toEqual(['template damaged', 'building a template', FAILED])
      expect(await stat(template).catch(() => 'gone')).toBe('gone')
    },
  )

  test('error: one whose memory is cut short is thrown away', async () => {
    await truncate(join(template, 'memory'), 63 * MIB)
    expect(await cloneWith(newStore())).toBeUndefined()
    await tried(1)
    expect(said[0]).toBe('template damaged')
  })
})
