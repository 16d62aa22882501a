import { setTimeout as sleep } from 'node:timers/promises'
import { adoptDetached } from '@coinrack/host/detached-process.ts'
import { lockFile } from '@coinrack/host/file-lock.ts'
import { dataLayout } from '../data-folder/data-layout.ts'
import { asLeader } from '../data-folder/leader-lock.ts'

const LOOK_MS = 500

/**
 * Restarts the PostgreSQL of a data folder whenever it has ended, for any reason; of several services on the folder, one
 * does so. Committed data survives.
 * @param start the function with which the service started it
 * @param onEvent receives each end, each restart and each failed start, which is tried again
 * @returns a function that ends the watch; PostgreSQL keeps running
 */
export function keepEmbeddedPostgres(
  dataFolder: string,
  start: () => Promise<unknown>,
  onEvent: (message: string, error?: Error) => void,
): () => Promise<void> {
  const { postgresPidFile, postgresWatchPidFile, startingPidFile } = dataLayout(dataFolder)
  const restart = async () => {
    // A service that is just starting starts PostgreSQL itself.
    const { lock } = await lockFile(startingPidFile)
    if (!lock) return
    try {
      onEvent('PostgreSQL has ended, and is started again')
      await start()
      onEvent('PostgreSQL takes connections again')
    } finally {
      await lock.release()
    }
  }
  const onFailure = (error: Error) => onEvent('PostgreSQL cannot be started; it is tried again', error)
  return asLeader(
    postgresWatchPidFile,
    () => {
      const end = new AbortController()
      const watching = (async () => {
        while (!end.signal.aborted) {
          try {
            if (!(await adoptDetached(postgresPidFile))) await restart()
          } catch (error) {
            onFailure(error as Error)
          }
          await sleep(LOOK_MS, undefined, { signal: end.signal }).catch(() => {})
        }
      })()
      return async () => {
        end.abort()
        await watching
      }
    },
    onFailure,
  )
}
