import { randomBytes, randomUUID } from 'node:crypto'
import { macAddress } from '../machine/command-line.ts'
import type { AgentSession } from './agent-session.ts'

/** The randomness that the kernel of a machine takes at once. */
const SEED_BYTES = 64

/** The values that make a machine unique, and current. */
export interface Identity {
  hostname: string
  /** The id that its hardware address follows from. */
  machineId: string
  env: Record<string, string>
}

/**
 * Gives the machine the time, and a randomness that no other has, and waits for it; as one of its own also names.
 * Nothing else may be asked of its agent before.
 */
export async function renew(session: AgentSession, now: Date, identity?: Identity): Promise<void> {
  const args = {
    now: now.getTime() / 1000,
    ...(identity && {
      hostname: identity.hostname,
      machineId: randomUUID().replaceAll('-', ''),
      bootId: randomUUID(),
      mac: macAddress(identity.machineId),
      env: identity.env,
    }),
  }
  await session.call('renew', args, { body: randomBytes(SEED_BYTES) })
}
