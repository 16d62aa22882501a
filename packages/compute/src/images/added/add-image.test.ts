import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type AddImageOptions, addImage } from './add-image.ts'
import type { AddedImage, ImageSource } from './added-image.ts'
import { addedDisk, changeAddedImages, listAddedImages } from './added-store.ts'
import { downloadFolder } from './download.ts'
import { removeImage } from './remove-image.ts'
import { type FileServer, makePublisher, type Publisher, startFileServer } from './testing.ts'

let server: FileServer
let publisher: Publisher
let stranger: Publisher
let disk: Buffer
let otherDisk: Buffer
let folder: string
let options: AddImageOptions
let said: string[]

beforeAll(async () => {
  server = await startFileServer()
  publisher = await makePublisher()
  stranger = await makePublisher()
  const place = await mkdtemp(join(tmpdir(), 'coinrack-disk-'))
  const make = async (byte: number) => {
    const file = join(place, `${byte}`)
    await runCommand('qemu-img', ['create', '-q', '-f', 'qcow2', file, '1G'])
    await runCommand('qemu-io', ['-f', 'qcow2', '-c', `write -P ${byte} 1M 2M`, file])
    return readFile(file)
  }
  disk = await make(1)
  otherDisk = await make(2)
  await rm(place, { recursive: true })
})
afterAll(() => Promise.all([server.close(), publisher.close(), stranger.close()]))

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-added-'))
  await runCommand('chmod', ['755', folder])
  said = []
  let number = 1000
  options = {
    folder: join(folder, 'added'),
    downloads: join(folder, 'downloads'),
    reader: process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined,
    clock: { now: () => new Date('2026-01-31T12:00:00Z') },
    newOsId: async () => number++,
    say: (line) => said.push(line),
    patience: { pauseMs: 1, idleMs: 5_000 },
  }
})
afterEach(() => rm(folder, { recursive: true }))

const sha512 = (bytes: Buffer) => createHash('sha512').update(bytes).digest('hex')
const sums = (bytes: Buffer) => `${sha512(bytes)}  disk.qcow2\n`

/** Publishes a disk as the big distributions do: a list of checksums, and its signature beside it. */
async function publish(bytes = disk, by = publisher, list = sums(bytes)): Promise<ImageSource> {
  server.files.set('disk.qcow2', { body: bytes, etag: `"${sha512(bytes).slice(0, 8)}"` })
  server.files.set('SHA512SUMS', { body: Buffer.from(list) })
  server.files.set('SHA512SUMS.gpg', { body: await by.detached(list) })
  return {
    url: `${server.url}/disk.qcow2`,
    checksums: `${server.url}/SHA512SUMS`,
    signature: `${server.url}/SHA512SUMS.gpg`,
    key: publisher.keyFile,
  }
}

const add = (source: ImageSource, slug = 'nova-24-04') =>
  addImage({ slug, name: 'Nova 24.04', source }, options)

/** Traces that any user can see or that would be left over: files, and the folder of downloads. */
const traces = async () => ({
  added: (await readdir(options.folder).catch(() => [])).filter((name) => name !== 'change.pid'),
  downloads: await readdir(options.downloads).catch(() => []),
})
const nothing = { added: [], downloads: [] }

test('default: an image proved by a signed list is there, with what it is and who vouches for it', async () => {
  const image = await add(await publish())
  expect(image).toEqual({
    slug: 'nova-24-04',
    osId: 1000,
    name: 'Nova 24.04',
    distribution: 'nova',
    version: '24.04',
    arch: 'x86_64',
    content: expect.stringMatching(/^nova-24-04-[0-9a-f]{16}$/),
    diskGb: 1,
    url: `${server.url}/disk.qcow2`,
    digest: `sha512:${sha512(disk)}`,
    signedBy: publisher.fingerprint,
    addedAt: '2026-01-31T12:00:00.000Z',
  })
  expect(await listAddedImages(options.folder)).toEqual([image])
  const kept = addedDisk(options.folder, image)
  await writeFile(join(folder, 'published'), disk)
  await runCommand('qemu-img', ['compare', kept, join(folder, 'published')])
  expect(await stat(kept)).toMatchObject({ uid: process.getuid!(), mode: 0o100644 })
  expect((await traces()).added.sort()).toEqual([`${image.content}.qcow2`, 'nova-24-04.json'])
  expect((await traces()).downloads).toEqual([])
  expect(said).toContain(`the checksums are signed by ${publisher.fingerprint}`)
})

test('default: a list that carries its signature, and a signature of the image itself', async () => {
  const { url, key } = await publish()
  server.files.set('CHECKSUM', { body: Buffer.from(await publisher.clearSigned(sums(disk))) })
  expect(await add({ url, key, checksums: `${server.url}/CHECKSUM` })).toMatchObject({ osId: 1000 })
  server.files.set('disk.qcow2.sig', { body: await publisher.detached(disk) })
  const signature = `${server.url}/disk.qcow2.sig`
  const image = await add({ url, key, signature }, 'rolling')
  expect(image).toMatchObject({ signedBy: publisher.fingerprint, version: 'rolling' })
})

test('behavior: again with the same id, it is replaced under its number', async () => {
  const first = await add(await publish())
  const second = await add(await publish(otherDisk))
  expect(second).toMatchObject({ osId: first.osId, digest: `sha512:${sha512(otherDisk)}` })
  expect(await listAddedImages(options.folder)).toEqual([second])
  expect((await traces()).added.sort()).toEqual([`${second.content}.qcow2`, 'nova-24-04.json'])
  expect(await add(await publish(otherDisk), 'other')).toMatchObject({ osId: 1001 })
})

test('behavior: a connection that broke, and what a kill left, are gone on with', async () => {
  const source = await publish()
  const file = server.files.get('disk.qcow2')!
  server.files.set('disk.qcow2', { ...file, cut: { afterBytes: 1_000_000, times: 100 }, ignoresRanges: true })
  await expect(add(source)).rejects.toThrow(/the same command goes on/)
  expect((await traces()).added).toEqual([])
  server.files.set('disk.qcow2', { ...file, cut: { afterBytes: 500_000, times: 1 } })
  server.ranges.length = 0
  await add(source)
  const [, , ...ranges] = server.ranges
  expect(ranges).toHaveLength(2)
  for (const range of ranges) expect(range).toMatch(/^bytes=[1-9]/)
})

test('error: what a kill left and somebody then changed is no part of an image; the next try starts anew', async () => {
  const source = await publish()
  const file = server.files.get('disk.qcow2')!
  server.files.set('disk.qcow2', { ...file, cut: { afterBytes: 1_000_000, times: 100 }, ignoresRanges: true })
  await expect(add(source)).rejects.toThrow(/the same command goes on/)
  const part = join(downloadFolder(options.downloads, source.url), 'part')
  const { size } = await stat(part)
  expect(size).toBeGreaterThan(0)
  await writeFile(part, Buffer.alloc(size, 'x'))
  server.files.set('disk.qcow2', file)
  await expect(add(source)).rejects.toThrow(/What came has the sha512/)
  expect(await traces()).toEqual(nothing)
  await add(source)
})

test('behavior: what was killed while it was being kept is cleared away', async () => {
  await mkdir(join(options.folder, 'staging'), { recursive: true })
  await writeFile(join(options.folder, 'staging', 'disk.qcow2'), 'half')
  await writeFile(join(options.folder, 'nova-24-04-0000000000000000.qcow2'), 'no record names it')
  await writeFile(join(options.folder, 'nova-24-04.json.part'), '{')
  expect(await listAddedImages(options.folder)).toEqual([])
  const image = await add(await publish())
  expect((await traces()).added.sort()).toEqual([`${image.content}.qcow2`, 'nova-24-04.json'])
})

test('error: two at the same time', async () => {
  const source = await publish()
  await changeAddedImages(options.folder, async () => {
    await expect(add(source)).rejects.toThrow(/is adding or removing an image/)
  })
  await add(source)
})

const tampered = () => {
  const bytes = Buffer.from(disk)
  bytes[bytes.length - 1]! ^= 1
  return bytes
}

test.each<[string, () => Promise<ImageSource>, RegExp]>([
  [
    'was tampered with',
    async () => {
      const source = await publish()
      server.files.set('disk.qcow2', { body: tampered(), etag: '"x"' })
      return source
    },
    /What came has the sha512 .*, the publisher says/,
  ],
  [
    'is cut short, and the server says that this is all',
    async () => {
      const source = await publish()
      server.files.set('disk.qcow2', { body: disk.subarray(0, 1_000_000), etag: '"x"' })
      return source
    },
    /What came has the sha512/,
  ],
  [
    'was tampered with together with its list',
    async () => {
      const source = await publish()
      server.files.set('disk.qcow2', { body: tampered() })
      server.files.set('SHA512SUMS', { body: Buffer.from(sums(tampered())) })
      return source
    },
    /BAD signature/,
  ],
  ['was signed by a stranger', () => publish(disk, stranger), /No public key/],
  [
    'is not what was signed',
    async () => {
      const { url, key } = await publish()
      server.files.set('disk.qcow2.sig', { body: await publisher.detached(otherDisk) })
      return { url, key, signature: `${server.url}/disk.qcow2.sig` }
    },
    /BAD signature/,
  ],
  [
    'is not in its list',
    () => publish(disk, publisher, `${sha512(disk)}  disk.img\n`),
    /does not name disk.qcow2/,
  ],
  ['is no disk', () => publish(Buffer.from('<html>no such page</html>')), /no disk/],
  [
    'has only a list over plain http',
    async () => ({ ...(await publish()), signature: undefined, key: undefined }),
    /is not https/,
  ],
])('error: an image that %s is never seen, and nothing of it stays', async (_what, prepare, message) => {
  await expect(add(await prepare())).rejects.toThrow(message)
  expect(await listAddedImages(options.folder)).toEqual([])
  expect(await traces()).toEqual(nothing)
})

test('error: an image that could not be had leaves the one before as it was', async () => {
  const first = await add(await publish())
  const source = await publish(otherDisk)
  server.files.set('disk.qcow2', { body: disk })
  await expect(add(source)).rejects.toThrow(/What came has/)
  expect(await listAddedImages(options.folder)).toEqual([first])
  expect((await stat(addedDisk(options.folder, first))).size).toBeGreaterThan(0)
})

test.each<[string, string, object, RegExp]>([
  ['an id that is a path', '../x', {}, /is no id/],
  ['an id with a capital letter', 'Nova', {}, /is no id/],
  ['the id of an image that is built here', 'debian-12', {}, /is built here/],
  ['an address that is a file', 'nova', { url: 'file:///etc/passwd' }, /no https address/],
  ['nothing that proves it', 'nova', { checksums: undefined, signature: undefined }, /Name what proves/],
  ['a signature without a key', 'nova', { key: undefined }, /proves nothing without/],
  ['a key from the same place', 'nova', { key: 'https://images.test/key' }, /has to be a file/],
])('error: %s', async (_what, slug, change, message) => {
  await expect(add({ ...(await publish()), ...change }, slug)).rejects.toThrow(message)
})

const removal = (usedBy: (image: AddedImage) => Promise<string[]> = async () => []) => ({
  folder: options.folder,
  baseImages: join(folder, 'base'),
  overlays: [join(folder, 'machines')],
  usedBy,
})

test('default: removed, nothing of it is left, also of older ones, and its number is not given again', async () => {
  const first = await add(await publish())
  await mkdir(join(folder, 'base'))
  const others = ['nova-24-04-arm-0123456789abcdef.qcow2', 'debian-12-0123456789abcdef.qcow2']
  for (const name of [...others, `${first.content}.qcow2`, 'nova-24-04-0123456789abcdef.qcow2'])
    await writeFile(join(folder, 'base', name), '')
  await removeImage('nova-24-04', removal())
  expect(await traces()).toEqual(nothing)
  expect((await readdir(join(folder, 'base'))).sort()).toEqual(others.sort())
  expect(await add(await publish())).toMatchObject({ osId: 1001 })
})

test('behavior: an older version of it stays for as long as some disk builds on it', async () => {
  const image = await add(await publish())
  const [used, unused] = ['nova-24-04-00000000000000aa.qcow2', `${image.content}.qcow2`]
  const base = join(folder, 'base')
  await mkdir(base)
  await mkdir(join(folder, 'machines', 'vps_1'), { recursive: true })
  for (const name of [used, unused])
    await runCommand('qemu-img', ['create', '-q', '-f', 'qcow2', join(base, name), '1G'])
  const overlay = ['-b', `../../base/${used}`, '-F', 'qcow2', 'disk.qcow2']
  await runCommand('qemu-img', ['create', '-q', '-f', 'qcow2', ...overlay], {
    cwd: join(folder, 'machines', 'vps_1'),
  })
  await removeImage('nova-24-04', removal())
  expect(await readdir(base)).toEqual([used])
})

test('error: not while somebody needs it; and nobody new comes to it while that is asked', async () => {
  const image = await add(await publish())
  let seen: AddedImage[] | undefined
  const asked = removal(async () => {
    seen = await listAddedImages(options.folder)
    return ['2 machines']
  })
  await expect(removeImage('nova-24-04', asked)).rejects.toThrow('nova-24-04 is in use: 2 machines')
  expect(seen).toEqual([])
  const failing = removal(() => Promise.reject(new Error('no database')))
  await expect(removeImage('nova-24-04', failing)).rejects.toThrow('no database')
  expect(await listAddedImages(options.folder)).toEqual([image])
  await expect(removeImage('other', removal())).rejects.toThrow('No image other was added here')
})

test('behavior: a removal that was killed is taken back by the next change', async () => {
  const image = await add(await publish())
  const record = join(options.folder, 'nova-24-04.json')
  await writeFile(`${record}.hidden`, await readFile(record))
  await rm(record)
  await expect(removeImage('other', removal())).rejects.toThrow()
  expect(await listAddedImages(options.folder)).toEqual([image])
})
