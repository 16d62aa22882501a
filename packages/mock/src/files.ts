import { Refusal } from './refusal.ts'

const HOME = '/home/user'
const decoder = new TextDecoder('utf-8', { fatal: true })

/** A path in a sandbox as it is kept: absolute. */
export const absolute = (path: string) => {
  const parts: string[] = []
  for (const part of (path.startsWith('/') ? path : `${HOME}/${path}`).split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `/${parts.join('/')}`
}

export const contentOf = ({
  content,
  content_base64,
}: {
  content?: string | undefined
  content_base64?: string | undefined
}) =>
  content === undefined
    ? Uint8Array.from(atob(content_base64 ?? ''), (letter) => letter.charCodeAt(0))
    : new TextEncoder().encode(content)

/** @throws Refusal `file_not_found`, with the advice `fix` where it has one of its own */
export function demandFile(files: Map<string, Uint8Array>, path: string, fix?: string): Uint8Array {
  const bytes = files.get(path)
  if (!bytes) throw new Refusal('file_not_found', `There is no file ${path}`, fix ? { fix } : {})
  return bytes
}

/** A part of a file as an answer has it. */
export function readPart(path: string, bytes: Uint8Array, offset: number, length = 5_000_000) {
  const part = bytes.subarray(offset, offset + length)
  const shown = {
    path,
    size: bytes.length,
    offset,
    length: part.length,
    eof: offset + part.length >= bytes.length,
  }
  try {
    return { ...shown, content: decoder.decode(part) }
  } catch {
    return { ...shown, content_base64: btoa(String.fromCharCode(...part)) }
  }
}

/** What is in a folder, down to a depth, sorted by path. @throws Refusal `file_not_found` */
export function listFolder(files: Map<string, Uint8Array>, folder: string, depth: number, modified_at: Date) {
  const start = folder === '/' ? '/' : `${folder}/`
  const found = new Map<string, { type: 'file' | 'folder'; size: number }>()
  for (const [path, { length }] of files) {
    if (!path.startsWith(start)) continue
    const parts = path.slice(start.length).split('/')
    for (let level = 1; level <= Math.min(depth, parts.length); level++) {
      const isFile = level === parts.length
      found.set(start + parts.slice(0, level).join('/'), {
        type: isFile ? 'file' : 'folder',
        size: isFile ? length : 4096,
      })
    }
  }
  if (found.size === 0 && folder !== HOME && folder !== '/')
    throw new Refusal('file_not_found', `There is no folder ${folder}`)
  return [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, { type, size }]) => ({
      ...{ path, type, size, mode: type === 'file' ? '0644' : '0755', user: 'user', group: 'user' },
      ...{ modified_at, target: null },
    }))
}
