import { posix } from 'node:path'
import { fitsPattern, isPattern } from './fit-pattern.ts'

/** A file of the context, by what is in it. */
export interface ContextEntry {
  /** Relative, without `.`, `..` and empty parts. */
  path: string
  type: 'file' | 'folder' | 'link'
  mode: number
  /** The digest of a file's content, or the target of a link. */
  content: string
}

/** The entries of a context that a source of COPY names: itself, or all that is in it, or what fits the pattern. */
export function matching(context: readonly ContextEntry[], source: string): ContextEntry[] {
  const path = posix.normalize(`/${source}`).replace(/^\/|\/$/g, '')
  if (path === '') return [...context]
  const isGlob = isPattern(path)
  const isRoot = (entry: ContextEntry) => (isGlob ? fitsPattern(entry.path, path) : entry.path === path)
  const roots = context.filter(isRoot).map((entry) => entry.path)
  if (!isGlob) roots.push(path)
  return context.filter(
    ({ path: own }) => roots.includes(own) || roots.some((root) => own.startsWith(`${root}/`)),
  )
}
