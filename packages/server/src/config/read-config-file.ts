import { readFileSync } from 'node:fs'

/** The text of a file of settings, undefined when there is none: `loadConfig` reads with it outside of tests. */
export function readConfigFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
