import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { root } from './sources.ts'

/** The oldest Node that customers may have. */
const OLDEST = 20

/**
 * Each version of Node on this machine that is not the project's own, with the path of its program: those in `PATH`, and in
 * the folders of `COINRACK_TEST_NODES`.
 */
export function otherNodes(): [version: string, path: string][] {
  const found = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '' && !folder.startsWith(root))
    .concat((process.env.COINRACK_TEST_NODES ?? '').split(delimiter).filter(Boolean))
    .map((folder) => join(folder, 'node'))
    .filter((path) => existsSync(path))
    .map((path) => [execFileSync(path, ['--version'], { encoding: 'utf8' }).trim(), path] as const)
    .filter(([version]) => Number(version.slice(1).split('.')[0]) >= OLDEST && version !== process.version)
  return [...new Map(found)]
}
