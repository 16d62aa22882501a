import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { ImageRefusedError } from './added-image.ts'
import { download, downloadFolder, readSource } from './download.ts'
import { type FileServer, startFileServer } from './testing.ts'

let server: FileServer
let folder: string
beforeAll(async () => {
  server = await startFileServer()
})
afterAll(() => server.close())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-download-'))
  server.ranges.length = 0
})
afterEach(() => rm(folder, { recursive: true }))

const body = randomBytes(3_000_000)
const url = () => `${server.url}/disk.img`
const quick = { mayBePlain: true, pauseMs: 1, idleMs: 2_000 }
const get = (change = {}) => download(url(), folder, { ...quick, ...change })

test('default: the whole file, with progress', async () => {
  server.files.set('disk.img', { body, etag: '"1"' })
  const said: string[] = []
  expect(await readFile(await get({ onProgress: (line: string) => said.push(line) }))).toEqual(body)
  expect(said.at(-1)).toBe('downloaded 2.9 MiB of 2.9 MiB (100 %)')
  expect(said.length).toBeGreaterThan(3)
})

test.each([
  ['an ETag', { etag: '"1"' }],
  ['a time of last change', { lastModified: 'Wed, 01 Jan 2025 00:00:00 GMT' }],
])('behavior: connections that break are gone on with, by %s', async (_by, mark) => {
  server.files.set('disk.img', { body, ...mark, cut: { afterBytes: 1_000_000, times: 2 } })
  expect(await readFile(await get())).toEqual(body)
  const [first, ...later] = server.ranges
  expect(first).toBe('')
  expect(later).toHaveLength(2)
  for (const range of later) expect(range).toMatch(/^bytes=[1-9]\d*-$/)
})

test('behavior: another process goes on with what a killed one left', async () => {
  server.files.set('disk.img', {
    body,
    etag: '"1"',
    cut: { afterBytes: 1_000_000, times: 100 },
    ignoresRanges: true,
  })
  await expect(get()).rejects.toThrow(/stays out of reach.*the same command goes on/)
  server.files.set('disk.img', { body, etag: '"1"' })
  server.ranges.length = 0
  const said: string[] = []
  expect(await readFile(await get({ onProgress: (line: string) => said.push(line) }))).toEqual(body)
  expect(server.ranges).toEqual([expect.stringMatching(/^bytes=[1-9]\d*-$/)])
  // It is told from where it goes on, and counts what was there before.
  const from = Number(/^going on at ([\d.]+) MiB$/.exec(said[0]!)![1])
  expect(from).toBeGreaterThan(0.5)
  expect(Number(/^downloaded ([\d.]+) MiB of 2.9 MiB/.exec(said[1]!)![1])).toBeGreaterThanOrEqual(from)
  expect(said.at(-1)).toBe('downloaded 2.9 MiB of 2.9 MiB (100 %)')
})

test('behavior: a file that is complete is not fetched again', async () => {
  server.files.set('disk.img', { body, etag: '"1"' })
  await get()
  expect(await readFile(await get())).toEqual(body)
  expect(server.ranges).toEqual(['', `bytes=${body.length}-`])
})

test.each([
  ['the file changed', { etag: '"2"' }],
  ['the server knows no ranges', { etag: '"1"', ignoresRanges: true }],
])('behavior: it begins anew when %s', async (_why, mark) => {
  server.files.set('disk.img', {
    body: randomBytes(2_000_000),
    etag: '"1"',
    cut: { afterBytes: 500_000, times: 100 },
    ignoresRanges: true,
  })
  await expect(get()).rejects.toThrow()
  server.files.set('disk.img', { body, ...mark })
  expect(await readFile(await get())).toEqual(body)
})

test('behavior: it begins anew when the file became shorter than what there is', async () => {
  server.files.set('disk.img', { body, etag: '"1"' })
  await get()
  const short = body.subarray(0, 1_000)
  server.files.set('disk.img', { body: short, etag: '"1"' })
  expect(await readFile(await get())).toEqual(short)
})

test.each([
  ['a weak ETag', { etag: 'W/"1"' }],
  ['nothing to tell versions apart', {}],
])('behavior: with %s it never puts two answers together', async (_with, mark) => {
  server.files.set('disk.img', { body, ...mark, cut: { afterBytes: 1_000_000, times: 1 } })
  expect(await readFile(await get())).toEqual(body)
  expect(server.ranges).toEqual(['', ''])
})

test('behavior: it begins anew when nothing says what the part is of', async () => {
  server.files.set('disk.img', {
    body,
    etag: '"1"',
    cut: { afterBytes: 1_000_000, times: 100 },
    ignoresRanges: true,
  })
  await expect(get()).rejects.toThrow()
  await rm(join(downloadFolder(folder, url()), 'mark.json'))
  server.files.set('disk.img', { body, etag: '"1"' })
  expect(await readFile(await get())).toEqual(body)
})

test.each([
  ['it is not there', { status: 404 }, /status 404/],
  ['it comes packed', { headers: { 'content-encoding': 'gzip' } }, /sends it as gzip/],
  ['it is larger than the disk', { headers: { 'content-length': '9000000000000000' } }, /no room/],
])('error: it is refused when %s', async (_why, change, message) => {
  server.files.set('disk.img', { body, ...change })
  await expect(get()).rejects.toThrow(message)
  await expect(get()).rejects.toBeInstanceOf(ImageRefusedError)
})

test('error: a server that is at a loss is asked again, five times', async () => {
  server.files.set('disk.img', { body, status: 503 })
  await expect(get()).rejects.toThrow(/status 503/)
  expect(server.ranges).toHaveLength(5)
})

test('error: another part than was asked for', async () => {
  server.files.set('disk.img', { body, etag: '"1"' })
  await get()
  const headers = { 'content-range': `bytes 7-${body.length}/${body.length + 1}` }
  server.files.set('disk.img', { body: Buffer.concat([body, body]), etag: '"1"', headers })
  await expect(get()).rejects.toThrow(/another part/)
})

test('error: a server that falls silent', async () => {
  const silent = createServer((socket) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegin')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => silent.once('listening', resolve))
  const { port } = silent.address() as { port: number }
  const asked = download(`http://127.0.0.1:${port}/x`, folder, { ...quick, idleMs: 100 })
  await expect(asked).rejects.toThrow(/nothing came for 0.1 s/)
  silent.close()
})

test('error: plain http where nothing but TLS would prove the file', async () => {
  await expect(get({ mayBePlain: false })).rejects.toThrow(/is not https/)
})

test('error: https that leads to plain http, and addresses that lead on without end', async () => {
  const lead = (location: string) => async () => new Response(null, { status: 302, headers: { location } })
  const from = (location: string) =>
    download('https://images.test/disk.img', folder, { ...quick, mayBePlain: false, request: lead(location) })
  await expect(from('http://images.test/disk.img')).rejects.toThrow(
    /http:\/\/images.test\/disk.img is not https/,
  )
  await expect(from('/disk.img')).rejects.toThrow(/without end/)
})

test('behavior: a small file whose connection breaks is fetched anew, and never taken as it is', async () => {
  const cut = { afterBytes: 3, times: 2 }
  server.files.set('SUMS', { body: Buffer.from('whole list'), cut })
  expect(String(await readSource(`${server.url}/SUMS`, quick))).toBe('whole list')
  expect(server.ranges).toHaveLength(3)
  cut.times = 100
  await expect(readSource(`${server.url}/SUMS`, quick)).rejects.toThrow(/stays out of reach/)
})

test('default: small files, of an address and of this host', async () => {
  server.files.set('SUMS', { body: Buffer.from('sums') })
  expect(String(await readSource(`${server.url}/SUMS`, quick))).toBe('sums')
  const file = join(folder, 'sums')
  await writeFile(file, 'mine')
  expect(String(await readSource(file, quick))).toBe('mine')
  await expect(readSource(join(folder, 'none'), quick)).rejects.toThrow(/cannot be read/)
  server.files.set('SUMS', { body: randomBytes(5_000_000) })
  await expect(readSource(`${server.url}/SUMS`, quick)).rejects.toThrow(/too large/)
})
