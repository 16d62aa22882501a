import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { RefusedError } from './exit-codes.ts'

const PRIVATE_FILE = 0o600
const PRIVATE_FOLDER = 0o700
const OTHERS = 0o077

/** The folder of what the command line keeps: `$XDG_CONFIG_HOME/coinrack`, by default `~/.config/coinrack`. */
export const configFolder = (env: Record<string, string | undefined>) =>
  join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'coinrack')

/** Writes a file that only its owner can read, as a whole or not at all. */
export async function writePrivate(path: string, text: string): Promise<void> {
  const folder = join(path, '..')
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER })
  const written = `${path}.${process.pid}`
  try {
    await writeFile(written, text, { mode: PRIVATE_FILE })
    await chmod(written, PRIVATE_FILE)
    await rename(written, path)
  } catch (error) {
    await rm(written, { force: true })
    throw new RefusedError(`Cannot write ${path}: ${(error as Error).message}`)
  }
}

/**
 * Reads a file that holds a secret.
 * @returns undefined when there is none
 * @throws RefusedError when others can read it too
 */
export async function readPrivate(path: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(path)
    if ((mode & OTHERS) !== 0 && process.platform !== 'win32')
      throw new RefusedError(
        `Other users of this computer can read ${path}, which holds your token: chmod 600 it`,
      )
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    if (error instanceof RefusedError) throw error
    throw new RefusedError(`Cannot read ${path}: ${(error as Error).message}`)
  }
}
