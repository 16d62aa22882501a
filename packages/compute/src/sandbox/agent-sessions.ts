import { connectToGuest } from '../machine/guest-socket.ts'
import type { Guest } from '../machine/machine.ts'
import { SandboxError } from '../ports/sandbox-runtime.ts'
import { type GuestLink, openLink } from './agent-session.ts'

const TIMEOUT_MS = 15_000
/** An agent that broke its link has to wait, longer each time: its machine costs nobody but its owner. */
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 30_000
/** Of a link that worked for so long, the break is forgiven. */
const FORGIVEN_AFTER_MS = 60_000

interface Known {
  link: Promise<GuestLink>
  openedAt: number
  breaks: number
}

/** One link for each machine, kept while it works. */
export function createLinks(clock: { now(): Date }) {
  const links = new Map<string, Known>()

  return {
    /** The link that is there, or a new one. Throws `guest_failed`. */
    async get(guest: Guest): Promise<GuestLink> {
      const now = clock.now().getTime()
      const known = links.get(guest.id)
      if (known) {
        const link = await known.link.catch(() => undefined)
        if (link && !link.failure) return link
        const wait = Math.min(FIRST_PAUSE_MS * 2 ** known.breaks, LONGEST_PAUSE_MS)
        const current = links.get(guest.id)
        if (current && current !== known) return current.link
        if (known.breaks > 1 && now - known.openedAt < wait)
          throw new SandboxError('guest_failed', 'The agent broke its link, and is left alone for a while')
      }
      const isForgiven = !known || now - known.openedAt > FORGIVEN_AFTER_MS
      const link = openLink(connectToGuest(guest.agent), { timeoutMs: TIMEOUT_MS })
      link.catch(() => {})
      links.set(guest.id, { link, openedAt: now, breaks: isForgiven ? 0 : known.breaks + 1 })
      return link
    },

    put(guest: Guest, link: GuestLink): void {
      links.set(guest.id, { link: Promise.resolve(link), openedAt: clock.now().getTime(), breaks: 0 })
    },

    async drop(id: string): Promise<void> {
      const known = links.get(id)
      links.delete(id)
      const link = await known?.link.catch(() => undefined)
      link?.close()
    },

    async close(): Promise<void> {
      for (const id of [...links.keys()]) await this.drop(id)
    },
  }
}

export type Links = ReturnType<typeof createLinks>
