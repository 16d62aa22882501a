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

test('behavior: each image has its own recipe', async () => {
  const hashes = await Promise.all(osImages.map(async (image) => (await readRecipe(image)).hash))
  expect(new Set(hashes).size).toBe(osImages.length)
})
