import { Refusal } from './refusal.ts'
import type { MockSandbox } from './state.ts'

export const HOME = '/home/user'
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

type Tree = Pick<MockSandbox, 'files' | 'folders'>

/** All that is in a sandbox by its path: a file with its content, and a folder with undefined. */
export function treeOf({ files, folders }: Tree): Map<string, Uint8Array | undefined> {
  const all = new Map<string, Uint8Array | undefined>()
  for (const path of [`${HOME}/`, ...files.keys(), ...folders])
    for (let at = path.indexOf('/', 1); at > 0; at = path.indexOf('/', at + 1))
      all.set(path.slice(0, at), undefined)
  for (const path of folders) all.set(path, undefined)
  for (const [path, bytes] of files) all.set(path, bytes)
  return all
}

/** @throws Refusal `file_not_found`, `file_refused` */
export function demandFolder(sandbox: Tree, path: string): void {
  if (sandbox.files.has(path)) throw new Refusal('file_refused', `${path} is no folder`)
  if (path !== '/' && !treeOf(sandbox).has(path))
    throw new Refusal('file_not_found', `There is no folder ${path}`)
}

/** @returns whether it is new. @throws Refusal `file_refused` when a file is in the way */
export function makeFolder(sandbox: Tree, path: string): boolean {
  for (let at = path.length; at > 0; at = path.lastIndexOf('/', at - 1))
    if (sandbox.files.has(path.slice(0, at)))
      throw new Refusal('file_refused', `${path.slice(0, at)} is no folder`)
  if (path === '/' || treeOf(sandbox).has(path)) return false
  sandbox.folders.add(path)
  return true
}

/** Moves a file, or a folder with all that is in it. @throws Refusal `file_not_found`, `file_refused` */
export function move(sandbox: Tree, from: string, to: string): void {
  const { files, folders } = sandbox
  const tree = treeOf(sandbox)
  if (!tree.has(from)) throw new Refusal('file_not_found', `There is no file ${from}`)
  if ((tree.has(to) && tree.get(to) === undefined) || to.startsWith(`${from}/`))
    throw new Refusal('file_refused', `${from} cannot be moved to ${to}`)
  makeFolder(sandbox, to.slice(0, to.lastIndexOf('/')) || '/')
  const isInside = (path: string) => path === from || path.startsWith(`${from}/`)
  if (tree.get(from) === undefined) folders.add(to)
  for (const path of [...folders].filter(isInside)) {
    folders.delete(path)
    folders.add(to + path.slice(from.length))
  }
  for (const [path, bytes] of [...files].filter(([each]) => isInside(each))) {
    files.delete(path)
    files.set(to + path.slice(from.length), bytes)
  }
}

/** Deletes a file, or a folder with all that is in it. One that is not there is fine. */
export function remove({ files, folders }: Tree, path: string): void {
  for (const all of [files, folders])
    for (const each of [...all.keys()]) if (each === path || each.startsWith(`${path}/`)) all.delete(each)
}

/** What is in a folder, down to a depth, sorted by path. @throws Refusal `file_not_found`, `file_refused` */
export function listFolder(sandbox: Tree, folder: string, depth: number, modified_at: Date) {
  demandFolder(sandbox, folder)
  const start = folder === '/' ? '/' : `${folder}/`
  return [...treeOf(sandbox)]
    .filter(([path]) => path.startsWith(start) && path.slice(start.length).split('/').length <= depth)
    .map(([path, bytes]): [string, { type: 'file' | 'folder'; size: number }] => [
      path,
      bytes ? { type: 'file', size: bytes.length } : { type: 'folder', size: 4096 },
    ])
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, { type, size }]) => ({
      ...{ path, type, size, mode: type === 'file' ? '0644' : '0755', user: 'user', group: 'user' },
      ...{ modified_at, target: null },
    }))
}
