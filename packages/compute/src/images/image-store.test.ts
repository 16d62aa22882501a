import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { osImages } from './catalog.ts'
import { createImageStore } from './image-store.ts'
import { readRecipe } from './recipe.ts'

let cacheFolder: string
beforeEach(async () => {
  cacheFolder = await mkdtemp(join(tmpdir(), 'coinrack-images-'))
})
afterEach(() => rm(cacheFolder, { recursive: true }))

async function putImage(index: number) {
  const { slug, hash } = await readRecipe(osImages[index]!)
  const folder = join(cacheFolder, 'images', `${slug}-${hash}`)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'disk.qcow2'), '')
}

test('default: an image is ready once its folder is there', async () => {
  const store = createImageStore({ cacheFolder })
  await putImage(0)
  expect(await store.status()).toEqual([
    { slug: 'debian-12', state: 'ready' },
    { slug: 'debian-13', state: 'missing' },
  ])
  expect((await store.get('debian-12')).disk).toContain('debian-12-')
  expect(await store.ensure('debian-12')).toEqual(await store.get('debian-12'))
})

test('error: unknown, and not built yet', async () => {
  const store = createImageStore({ cacheFolder })
  await expect(store.get('plan-9')).rejects.toMatchObject({ code: 'image_unknown' })
  await expect(store.get('debian-13')).rejects.toMatchObject({ code: 'image_not_ready' })
})

test('error: a build that fails is remembered until the next try', async () => {
  const store = createImageStore({ cacheFolder: join(import.meta.filename, 'no-folder') })
  await expect(store.ensure('debian-12')).rejects.toThrow()
  expect((await store.status())[0]).toMatchObject({
    slug: 'debian-12',
    state: 'failed',
    detail: expect.any(String),
  })
})

test('behavior: whether images are there is asked without reading their recipes again', async () => {
  const reads: string[] = []
  const recipe = { hash: 'hash', command: () => ['false'] }
  const recipes = {
    slugs: ['one', 'two'],
    async read(slug: string) {
      reads.push(slug)
      return { slug, ...recipe }
    },
  }
  const store = createImageStore({ cacheFolder, recipes })
  await Promise.all([store.status(), store.status()])
  expect(await store.status()).toMatchObject([{ state: 'missing' }, { state: 'missing' }])
  await mkdir(join(cacheFolder, 'images', 'two-hash'), { recursive: true })
  await writeFile(join(cacheFolder, 'images', 'two-hash', 'disk.qcow2'), '')
  expect(await store.status()).toMatchObject([{ state: 'missing' }, { state: 'ready' }])
  expect(reads).toEqual(['one', 'two'])
})

test('behavior: each image has its own recipe', async () => {
  const hashes = await Promise.all(osImages.map(async (image) => (await readRecipe(image)).hash))
  expect(new Set(hashes).size).toBe(osImages.length)
})

/** Another process that builds an image by the script, and says each of its steps. */
function startBuilding(script: string): ChildProcess {
  const args = ['--input-type=module', '--eval', BUILD, import.meta.dirname, cacheFolder, script]
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
}

const BUILD = `
const [folder, cacheFolder, script] = process.argv.slice(1)
const { createImageStore } = await import(folder + '/image-store.ts')
const command = (_mirror, out) => ['sh', '-euc', script, 'build', out]
const recipes = { slugs: ['own'], read: async (slug) => ({ slug, hash: 'hash', command }) }
await createImageStore({ cacheFolder, recipes }).ensure('own', console.log)
`

// Whatever a build started has its lock, and a folder that is mounted cannot be removed.
test.skipIf(process.getuid?.() !== 0)(
  'behavior: a build ends with a service that is killed, with what it started and mounted, and is done anew',
  async () => {
    const killed = startBuilding(
      'mkdir "$1.building"; mount -t tmpfs none "$1.building"; sleep 60 & echo "step: sleeping"; wait',
    )
    await once(killed.stdout!, 'data')
    killed.kill('SIGKILL')
    const next = startBuilding('rm -r "$1.building"; mkdir "$1"; echo >"$1/disk.qcow2"')
    expect(await once(next, 'exit', { signal: AbortSignal.timeout(20_000) })).toEqual([0, null])
  },
  30_000,
)
