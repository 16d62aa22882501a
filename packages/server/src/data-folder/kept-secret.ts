import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The secret in this file: 64 hexadecimal digits, made at its first use and kept. Only its owner can read it. */
export async function keptSecret(file: string): Promise<string> {
  const kept = await readOptional(file)
  if (kept !== undefined) return kept.trim()
  const secret = randomBytes(32).toString('hex')
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeAtomically(file, `${secret}\n`, 0o600)
  return secret
}

/** The text of a file, undefined when there is none. */
export async function readOptional(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Writes a file that, when it is there, is there whole, also after a power cut. */
export async function writeAtomically(
  file: string,
  content: string | Uint8Array,
  mode: number,
): Promise<void> {
  await writeFile(`${file}.new`, content, { mode, flush: true })
  await rename(`${file}.new`, file)
}
