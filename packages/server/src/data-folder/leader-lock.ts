import { type FileLock, lockFile } from '@coinrack/host/file-lock.ts'
import { repeat } from '../platform/background.ts'

const ASK_MS = 1_000

/**
 * Does what one process at a time may do: begins as soon as this one has the lock of the pid file, and keeps it. The
 * kernel frees it with the process.
 * @param begin answers what ends the work; it is waited for before the lock is freed
 * @returns what ends the waiting or the work, and then frees the lock
 */
export function asLeader(
  pidFile: string,
  begin: () => (() => Promise<void>) | Promise<() => Promise<void>>,
  onFailure: (error: Error) => void,
): () => Promise<void> {
  const done = new AbortController()
  let lock: FileLock | undefined
  let end = async () => {}
  const waiting = repeat(
    done.signal,
    { everyMs: ASK_MS },
    async () => {
      lock = (await lockFile(pidFile)).lock
      if (!lock || done.signal.aborted) return
      done.abort()
      end = await begin()
    },
    onFailure,
  )
  return async () => {
    done.abort()
    await waiting
    await end()
    await lock?.release()
  }
}
