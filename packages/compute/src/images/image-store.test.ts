import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { osImages } from './catalog.ts'
import { createImageStore } from './image-store.ts'
import { type RecipeBook, readRecipe } from './recipe.ts'

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

test('behavior: each image has its own recipe', async () => {
  const hashes = await Promise.all(osImages.map(async (image) => (await readRecipe(image)).hash))
  expect(new Set(hashes).size).toBe(osImages.length)
})

const recipeOf = (script: string): RecipeBook => ({
  slugs: ['own'],
  read: async (slug) => ({
    ...{ slug, hash: 'hash' },
    command: (_mirror, out) => ['sh', '-euc', script, 'build', out],
  }),
})

test.skipIf(process.getuid?.() !== 0)(
  'behavior: a build ends with a service that is killed, with what it started and mounted, and can be done anew',
  async () => {
    const mark = `${100_000 + process.pid}.5`
    const endless = `mkdir -p "$1.building"; mount -t tmpfs none "$1.building"; sleep ${mark} & echo "step: sleeping"; wait`
    const service = spawn(
      process.execPath,
      ['--input-type=module', '--eval', SERVICE, cacheFolder, endless, import.meta.dirname],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    await once(service.stdout, 'data')
    const sleepers = () => runCommand('pgrep', ['-f', `^sleep ${mark}`])
    expect((await sleepers()).stdout).toMatch(/^\d+\n$/)
    service.kill('SIGKILL')
    await vi.waitFor(() => expect(sleepers()).rejects.toMatchObject({ exitCode: 1 }), 5_000)
    expect((await runCommand('cat', ['/proc/mounts'])).stdout).not.toContain(cacheFolder)

    const recipes = recipeOf('rm -r "$1.building"; mkdir "$1"; echo >"$1/disk.qcow2"')
    const store = createImageStore({ cacheFolder, recipes })
    await store.ensure('own')
    expect(await store.status()).toEqual([{ slug: 'own', state: 'ready' }])
  },
)

/** A process that builds an image by the script that it is given, and says each of its steps. */
const SERVICE = `
const [cacheFolder, script, folder] = process.argv.slice(1)
const { createImageStore } = await import(folder + '/image-store.ts')
const command = (_mirror, out) => ['sh', '-euc', script, 'build', out]
const recipes = { slugs: ['own'], read: async (slug) => ({ slug, hash: 'hash', command }) }
await createImageStore({ cacheFolder, recipes }).ensure('own', console.log)
`
