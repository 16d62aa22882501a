import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

/** A file of the repository that is text. */
export interface Source {
  /** From the root. */
  path: string
  text: string
  lines: string[]
}

/** Every file that is or would be committed, images and archives left out. */
export function repositoryFiles(): Source[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  return [...new Set(listed.split('\0'))]
    .filter(
      (path) => path !== '' && existsSync(join(root, path)) && !/\.(png|jpg|gif|ico|woff2?|gz)$/.test(path),
    )
    .sort()
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      return { path, text, lines: text.split('\n') }
    })
}

/** Whether a file is a test or serves tests: `*.test.ts`, `testing.ts`, conformance suites, fakes. */
export const isForTests = (path: string) =>
  /\.test\.ts$|(^|\/)testing(-[\w-]+)?\.ts$|\.suite\.ts$|(^|\/)fake[-/]|^test\//.test(path)

const IMPORT =
  /(?:^|[\s;])(?:import|export)\s[^'"]*?from\s+['"]([^'"]+)['"]|(?:^|\s)import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]|new URL\(\s*['"](\.[^'"]+)['"]\s*,\s*import\.meta\.url/gm

/** The imports of a source, as written. */
export const importsOf = ({ text }: Source): string[] =>
  [...text.matchAll(IMPORT)].map((match) => (match[1] ?? match[2] ?? match[3] ?? match[4])!)

/** The file that an import names, from the root; undefined for a package that is not ours. */
export function resolveImport(from: string, written: string): string | undefined {
  if (written.startsWith('.')) return join(dirname(from), written)
  const ours = /^@coinrack\/([\w-]+)\/(.+)$/.exec(written)
  return ours ? `packages/${ours[1]}/src/${ours[2]}` : undefined
}
