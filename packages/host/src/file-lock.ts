import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { adoptDetached } from './detached-process.ts'

export interface FileLock {
  release(): Promise<void>
}

/** A check for the lock may hold it for an instant. */
const WAIT_SECONDS = 1

/**
 * Takes the lock of a pid file for this process, and writes its process id there.
 * The kernel frees it when the process ends, however it ends; `adoptDetached` and `stopDetached` understand the file.
 * @returns the lock, or the process id that holds it (undefined when that is not known)
 */
export async function lockFile(
  pidFile: string,
): Promise<{ lock: FileLock } | { lock: undefined; heldBy: number | undefined }> {
  const heldBy = await adoptDetached(pidFile)
  if (heldBy) return { lock: undefined, heldBy }
  await mkdir(dirname(pidFile), { recursive: true })
  const file = await open(pidFile, 'a', 0o600)
  if (!(await takeLock(file))) {
    await file.close()
    return { lock: undefined, heldBy: await adoptDetached(pidFile) }
  }
  await file.truncate(0)
  await file.write(`${process.pid}\n`)
  return { lock: { release: () => file.close() } }
}

/** An flock belongs to the open file, not to the process that asks: so another program can take it for us. */
async function takeLock(file: FileHandle): Promise<boolean> {
  const flock = spawn('flock', ['--exclusive', '--wait', String(WAIT_SECONDS), '3'], {
    stdio: ['ignore', 'ignore', 'inherit', file.fd],
  })
  const [exitCode] = await once(flock, 'exit')
  return exitCode === 0
}
