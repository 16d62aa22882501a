import { announce } from '../database/changes.ts'
import { sha256 } from '../platform/sealer.ts'
import type { Services } from '../platform/services.ts'

/** The facts by which a client names a call of its own, which another replica may be answering. */
export interface CallInFlight {
  token: string
  address: string
  /** The name that the client program gives itself. */
  program: string
  /** The client's own identifier of the call. */
  id: string | number
}

/** Lets clients take calls back that have not been answered yet, on whichever replica they are. */
export interface Cancellations {
  /** @returns what aborts when the client takes the call back; `end` belongs after its answer */
  begin(call: CallInFlight): { cancelled: AbortSignal; end(): void }
  /** Takes a call back, for a client whose token is known to be good. */
  cancel(call: CallInFlight): Promise<void>
  close(): void
}

const TOPIC = 'cancelled-call:'

/**
 * Where clients have no sessions, the identifier of a call is the client's own, and two clients of one token may use the
 * same. So the address and the program have to be the same as well, and what still fits several calls ends none of them.
 */
export function createCancellations({ db, changes }: Pick<Services, 'db' | 'changes'>): Cancellations {
  const inFlight = new Map<string, Set<AbortController>>()
  const close = changes.subscribe((topic) => {
    const calls = topic.startsWith(TOPIC) ? inFlight.get(topic) : undefined
    if (calls?.size === 1) for (const call of calls) call.abort()
  })
  return {
    close,
    begin(call) {
      const topic = topicOf(call)
      const controller = new AbortController()
      const calls = inFlight.get(topic) ?? new Set()
      inFlight.set(topic, calls.add(controller))
      return {
        cancelled: controller.signal,
        end() {
          calls.delete(controller)
          if (calls.size === 0) inFlight.delete(topic)
        },
      }
    },
    cancel: (call) => announce(db, topicOf(call)),
  }
}

const topicOf = ({ token, address, program, id }: CallInFlight) =>
  TOPIC + sha256(JSON.stringify([token, address, program, id])).toString('base64url')
