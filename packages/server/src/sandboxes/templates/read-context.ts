import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { PassThrough, pipeline, Readable, Transform, type Writable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { extract, type Header, pack } from 'tar-stream'
import type { Queryable } from '../../database/transaction.ts'
import { OperationError } from '../../platform/errors.ts'
import { type ContextEntry, matching } from './context-entry.ts'
import { piecesOf, uploadsOf } from './context-store.ts'
import { fitsPattern, isPattern } from './fit-pattern.ts'
import type { CopyWish } from './plan-build.ts'

/*
 * The files that a Dockerfile may copy. They come as archives of strangers, and are unpacked nowhere on this computer: they
 * are read as a stream, and what is copied goes on to the sandbox as another archive.
 */

/** The most files of a context, and the most bytes of them together. */
const MOST_ENTRIES = 20_000
const MOST_BYTES = 512 * 1024 ** 2
const NAME_BYTES = 1024
/** What headers may take: all together, and beside that each. */
const HEADERS_BYTES = 4 * 1024 ** 2
const HEADER_BYTES = 2048
const GZIP = Buffer.from([0x1f, 0x8b])
const KINDS = { file: 'file', 'contiguous-file': 'file', directory: 'folder', symlink: 'link' } as const

export class BadArchive extends Error {}

/** One entry with its content, which has to be read before the next. */
interface FoundEntry extends Omit<ContextEntry, 'content'> {
  size: number
  target: string
  content: Readable
}

/** An archive of a context, and the folder of it in which it is unpacked. */
interface Archive {
  folder: string
  pieces: AsyncIterable<Buffer>
}

/** Goes through all entries of archives. @throws BadArchive */
async function* entriesOf(archives: readonly Archive[]): AsyncGenerator<FoundEntry> {
  let [entries, bytes] = [0, 0]
  for (const { folder, pieces } of archives) {
    for await (const entry of archiveEntries(pieces)) {
      entries++
      bytes += entry.size
      if (entries > MOST_ENTRIES) throw new BadArchive(`There are more than ${MOST_ENTRIES} files`)
      if (bytes > MOST_BYTES) throw new BadArchive('The files are more than 512 MiB')
      yield { ...entry, path: folder === '' ? entry.path : posix.join(folder, entry.path) }
    }
  }
}

/** The archives that were uploaded for a template. */
const archivesOf = async (db: Queryable, templateId: string): Promise<Archive[]> =>
  (await uploadsOf(db, templateId)).map(({ folder, upload }) => ({ folder, pieces: piecesOf(db, upload) }))

async function* archiveEntries(archive: AsyncIterable<Buffer>): AsyncGenerator<FoundEntry> {
  const pieces = archive[Symbol.asyncIterator]()
  const first = await pieces.next()
  if (first.done) return
  const source = Readable.from(
    (async function* () {
      yield first.value
      yield* { [Symbol.asyncIterator]: () => pieces }
    })(),
    { objectMode: false },
  )
  const reader = extract()
  // Headers are held in memory, whatever size they say they have.
  let allowed = HEADERS_BYTES
  let fed = 0
  const counted = new Transform({
    transform(piece: Buffer, _encoding, done) {
      fed += piece.length
      done(fed > allowed ? new BadArchive('Its headers are too long') : null, piece)
    },
  })
  const isPacked = first.value.subarray(0, 2).equals(GZIP)
  const ended = (error: unknown) => {
    if (error) reader.destroy(error as Error)
  }
  if (isPacked) pipeline(source, createGunzip(), counted, reader, ended)
  else pipeline(source, counted, reader, ended)
  try {
    for await (const entry of reader) {
      const { name, type, mode, size, linkname } = entry.header
      const path = pathIn(name)
      const kind = KINDS[type as keyof typeof KINDS]
      allowed += size + HEADER_BYTES
      if (type === 'link')
        throw new BadArchive(`${name.slice(0, 200)} is a hard link: pack with tar --hard-dereference`)
      if (path === '' || kind === undefined) {
        entry.resume()
        continue
      }
      yield {
        path,
        type: kind,
        mode: mode & 0o7777,
        size,
        target: linkname,
        content: entry as unknown as Readable,
      }
    }
  } catch (error) {
    if (error instanceof BadArchive) throw error
    throw new BadArchive(`It is no tar or tar.gz archive: ${(error as Error).message}`)
  } finally {
    reader.destroy()
    source.destroy()
  }
}

/** The name as a relative path; empty for the folder itself. @throws BadArchive */
function pathIn(name: string): string {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..') || name.includes('\0') || Buffer.byteLength(name) > NAME_BYTES)
    throw new BadArchive(`${name.slice(0, 200)} is no path within an archive`)
  return parts.join('/')
}

/** The context of a template, as `contextIn` reads it. @throws OperationError `dockerfile_invalid` */
export const readContext = async (db: Queryable, templateId: string): Promise<ContextEntry[]> =>
  contextIn(await archivesOf(db, templateId))

/** All entries by what is in them, without those that `.dockerignore` names. @throws OperationError `dockerfile_invalid` */
export async function contextIn(archives: readonly Archive[]): Promise<ContextEntry[]> {
  const found = new Map<string, ContextEntry>()
  let ignored = ''
  try {
    for await (const { path, type, mode, target, content } of entriesOf(archives)) {
      const hash = createHash('sha256')
      const kept: Buffer[] = []
      for await (const piece of content as AsyncIterable<Buffer>) {
        hash.update(piece)
        if (path === '.dockerignore' && kept.length < 16) kept.push(piece)
      }
      if (path === '.dockerignore') ignored = Buffer.concat(kept).toString()
      found.set(path, { path, type, mode, content: type === 'file' ? hash.digest('hex') : target })
    }
  } catch (error) {
    if (!(error instanceof BadArchive)) throw error
    throw new OperationError('dockerfile_invalid', `The context: ${error.message}`, {
      fields: { line: 1, instruction: 'COPY' },
    })
  }
  const isIgnored = ignoring(ignored)
  const all = [...found.values()].filter(({ path }) => !isIgnored(path))
  return all.sort((one, other) => (one.path < other.path ? -1 : 1))
}

/**
 * The rules of `.dockerignore`: the last line that fits a path, or a folder above it, decides.
 * Source: docs.docker.com/build/concepts/context, "Syntax"
 */
export function ignoring(text: string): (path: string) => boolean {
  const rules = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .slice(0, 1000)
    .map((line) => {
      const isException = line.startsWith('!')
      const pattern = posix.normalize(`/${line.slice(isException ? 1 : 0).trim()}`).replace(/^\/|\/$/g, '')
      return { isException, pattern }
    })
    .filter(({ pattern }) => pattern !== '')
  return (path) => {
    const parts = path.split('/')
    const above = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
    let isIgnored = false
    for (const { isException, pattern } of rules)
      if (above.some((each) => fitsPattern(each, pattern))) isIgnored = !isException
    return isIgnored
  }
}

/**
 * What an instruction copies, as an archive whose paths begin at the root of the sandbox.
 * @param context as `readContext` answered it
 * @param isFolder whether the target is a folder that is there
 */
export function archiveOf(
  db: Queryable,
  templateId: string,
  context: readonly ContextEntry[],
  copy: CopyWish,
  isFolder: boolean,
): AsyncIterable<Uint8Array> {
  const archive = pack()
  const out = new PassThrough()
  pipeline(archive as unknown as Readable, out, () => {})
  fill(archive, db, templateId, context, copy, isFolder).catch((error) => out.destroy(error))
  return out
}

async function fill(
  archive: ReturnType<typeof pack>,
  db: Queryable,
  templateId: string,
  context: readonly ContextEntry[],
  copy: CopyWish,
  isFolder: boolean,
): Promise<void> {
  const places = placesOf(context, copy, isFolder)
  const [user = '', group = user] = copy.owner?.split(':') ?? []
  const isNumber = (text: string) => /^\d+$/.test(text)
  const owner = {
    uid: isNumber(user) ? Number(user) : 0,
    gid: isNumber(group) ? Number(group) : 0,
    uname: isNumber(user) ? '' : user || 'root',
    gname: isNumber(group) ? '' : group || 'root',
    mtime: new Date(0),
  }
  const put = (header: Partial<Header> & { name: string }, content: readonly Uint8Array[] | Readable = []) =>
    new Promise<void>((resolve, reject) => {
      const sink = archive.entry({ ...owner, ...header }, (error) =>
        error ? reject(error) : resolve(),
      ) as unknown as Writable
      if (header.type === 'directory' || header.type === 'symlink') return
      void (async () => {
        for await (const piece of content)
          if (!sink.write(piece)) await new Promise((drained) => sink.once('drain', drained))
        sink.end()
      })().catch(reject)
    })
  for (const { name, content } of copy.inline) {
    const bytes = Buffer.from(content)
    const into = isFolder || copy.intoFolder ? posix.join(copy.target, name) : copy.target
    await put({ name: relative(into), mode: copy.mode ?? 0o644, size: bytes.length }, [bytes])
  }
  if (places.size > 0)
    for await (const { path, type, mode, size, target, content } of entriesOf(
      await archivesOf(db, templateId),
    )) {
      const names = (places.get(path) ?? []).map(relative)
      if (type === 'folder') {
        for (const name of names.filter((each) => each !== ''))
          await put({ name: `${name}/`, type: 'directory', mode })
      } else if (type === 'link') {
        for (const name of names) await put({ name, type: 'symlink', linkname: target, mode: 0o777 })
      } else if (names.length === 1) {
        await put({ name: names[0]!, mode: copy.mode ?? mode, size }, content)
      } else if (names.length > 1) {
        const pieces: Buffer[] = []
        for await (const piece of content as AsyncIterable<Buffer>) pieces.push(piece)
        for (const name of names) await put({ name, mode: copy.mode ?? mode, size }, pieces)
      }
      content.resume()
    }
  archive.finalize()
}

/** Where each entry goes. */
function placesOf(
  context: readonly ContextEntry[],
  copy: CopyWish,
  isFolder: boolean,
): Map<string, string[]> {
  const places = new Map<string, string[]>()
  const put = (path: string, target: string) => places.set(path, [...(places.get(path) ?? []), target])
  const folders = new Set(
    context.flatMap(({ path, type }) => (type === 'folder' ? [path] : foldersAbove(path))),
  )
  for (const source of copy.sources) {
    const path = posix.normalize(`/${source}`).replace(/^\/|\/$/g, '')
    const roots = isPattern(path)
      ? [...new Set([...context.map((entry) => entry.path), ...folders])].filter((each) =>
          fitsPattern(each, path),
        )
      : [path]
    for (const root of roots)
      for (const entry of matching(context, root === '' ? '.' : root)) {
        const isItself = entry.path === root
        if (root === '' || folders.has(root)) {
          // The content of a folder is copied, not the folder.
          const inside = root === '' ? entry.path : entry.path.slice(root.length + 1)
          put(entry.path, isItself ? copy.target : posix.join(copy.target, inside))
        } else if (isItself) {
          const into = copy.intoFolder || isFolder
          put(entry.path, into ? posix.join(copy.target, posix.basename(entry.path)) : copy.target)
        }
      }
  }
  return places
}

const foldersAbove = (path: string) => {
  const parts = path.split('/')
  return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'))
}

const relative = (path: string) => path.replace(/^\/+/, '')

/** Packs files of a call as an archive. */
export async function packFiles(
  files: readonly { path: string; content: Uint8Array; mode: number }[],
): Promise<Buffer> {
  const archive = pack()
  for (const { path, content, mode } of files)
    archive.entry({ name: path, mode, size: content.length, mtime: new Date(0) }, Buffer.from(content))
  archive.finalize()
  const pieces: Buffer[] = []
  for await (const piece of archive as AsyncIterable<Buffer>) pieces.push(piece)
  return Buffer.concat(pieces)
}
