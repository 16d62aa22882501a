import { repeat } from '../platform/background.ts'
import type { Services } from '../platform/services.ts'
import { version } from '../platform/version.ts'
import { forgetReplicas, noteReplica, noteTending } from './replica-store.ts'

/** Several times before a replica counts as gone. */
const SIGN_MS = 3_000

/** A replica that the others know of. */
export interface Announced {
  /** Tells that this replica has the machines of the data folder, as long as it runs. */
  tends(): Promise<void>
  /** Takes it off the list. */
  end(): Promise<void>
}

/**
 * Puts this replica on the list of those that run, and keeps it there.
 * @param address where other replicas reach it, as `host:port`
 */
export async function announceReplica(
  { db, random, log }: Pick<Services, 'db' | 'random' | 'log'>,
  address: string,
): Promise<Announced> {
  const self = { id: Buffer.from(random.bytes(8)).toString('hex'), address, version }
  let note = () => noteReplica(db, self)
  await note()
  const done = new AbortController()
  const signing = repeat(
    done.signal,
    { everyMs: SIGN_MS },
    async () => {
      await note()
      await forgetReplicas(db, null)
    },
    (error) => log.error({ err: error }, 'Telling the other replicas of this one failed'),
  )
  return {
    async tends() {
      note = () => noteTending(db, self)
      await note().catch((error) => log.error({ err: error }, 'Telling who tends the machines failed'))
    },
    async end() {
      done.abort()
      await signing
      await forgetReplicas(db, self.id).catch(() => {})
    },
  }
}
