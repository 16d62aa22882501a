import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { configFolder, writePrivate } from './config-folder.ts'

type Env = Record<string, string | undefined>

const fileOf = (env: Env) => join(configFolder(env), 'names.json')

/** Keeps the names that were seen last, for completion: the tab key does not wait for a service. */
export const rememberNames = (env: Env, names: string[]) =>
  writePrivate(fileOf(env), `${JSON.stringify(names)}\n`)

/** The names that were seen last. */
export function knownNames(env: Env): string[] {
  try {
    const names: unknown = JSON.parse(readFileSync(fileOf(env), 'utf8'))
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
  } catch {
    return []
  }
}
