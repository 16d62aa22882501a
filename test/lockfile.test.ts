import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

interface Entry {
  version: string
  resolved?: string
  link?: boolean
  inBundle?: boolean
  optionalDependencies?: Record<string, string>
}

const text = await readFile(join(import.meta.dirname, '..', 'package-lock.json'), 'utf8')
const packages = Object.entries((JSON.parse(text) as { packages: Record<string, Entry> }).packages)

test('behavior: names every optional package, or `npm ci` would refuse it (scripts/complete-lockfile.mjs adds them)', () => {
  const known = new Set(packages.map(([path]) => path))
  // A package that comes within another one has all that it needs beside it.
  const own = packages.filter(([, entry]) => !entry.inBundle)
  const wanted = own.flatMap(([, entry]) => Object.keys(entry.optionalDependencies ?? {}))
  expect(wanted.filter((name) => !known.has(`node_modules/${name}`))).toEqual([])
})

test('behavior: names no registry', () => {
  const resolved = packages.flatMap(([, entry]) => (entry.resolved && !entry.link ? [entry.resolved] : []))
  expect(resolved).toEqual([])
})
