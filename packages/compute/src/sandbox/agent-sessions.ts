import { connectToGuest } from '../machine/guest-socket.ts'
import type { Machine } from '../machine/machine.ts'
import { SandboxError } from '../ports/sandbox-runtime.ts'
import { type AgentSession, openSession } from './agent-session.ts'

const TIMEOUT_MS = 15_000
/** An agent that broke its session has to wait, longer each time: its machine costs only its owner. */
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 30_000
/** A session that worked for so long is forgiven its break. */
const FORGIVEN_AFTER_MS = 60_000

interface Known {
  session: Promise<AgentSession>
  openedAt: number
  breaks: number
}

/** One link for each machine, kept while it works. */
export function createAgentSessions(clock: { now(): Date }) {
  const sessions = new Map<string, Known>()

  return {
    /** The link that is there, or a new one. Throws `guest_failed`. */
    async get(qemu: Machine): Promise<AgentSession> {
      const now = clock.now().getTime()
      const known = sessions.get(qemu.id)
      if (known) {
        const session = await known.session.catch(() => undefined)
        if (session && !session.failure) return session
        const wait = Math.min(FIRST_PAUSE_MS * 2 ** known.breaks, LONGEST_PAUSE_MS)
        const current = sessions.get(qemu.id)
        if (current && current !== known) return current.session
        if (known.breaks > 1 && now - known.openedAt < wait)
          throw new SandboxError('guest_failed', 'The agent broke its link, and is left alone for a while')
      }
      const isForgiven = !known || now - known.openedAt > FORGIVEN_AFTER_MS
      const session = openSession(connectToGuest(qemu.agent), { timeoutMs: TIMEOUT_MS })
      session.catch(() => {})
      sessions.set(qemu.id, { session, openedAt: now, breaks: isForgiven ? 0 : known.breaks + 1 })
      return session
    },

    put(qemu: Machine, session: AgentSession): void {
      sessions.set(qemu.id, { session: Promise.resolve(session), openedAt: clock.now().getTime(), breaks: 0 })
    },

    async drop(id: string): Promise<void> {
      const known = sessions.get(id)
      sessions.delete(id)
      const session = await known?.session.catch(() => undefined)
      session?.close()
    },

    async close(): Promise<void> {
      for (const id of [...sessions.keys()]) await this.drop(id)
    },
  }
}

export type AgentSessions = ReturnType<typeof createAgentSessions>
