import { randomInt } from 'node:crypto'
import { createInterface } from 'node:readline'
import { connectToGuest } from '../machine/guest-socket.ts'

/*
 * The guest agent, as far as snapshots need it: file systems that are written out and hold still, and the clock.
 * https://www.qemu.org/docs/master/interop/qemu-ga-ref.html
 */

/** A guest that computes a lot answers late; one without an agent never. */
const FREEZE_TIMEOUT_MS = 5_000
const THAW_TIMEOUT_MS = 15_000

/** @returns whether they hold still now: false without an agent that answers in time */
export async function freezeFileSystems(agent: string): Promise<boolean> {
  const frozen = await askAgent(agent, FREEZE_TIMEOUT_MS, 'guest-fsfreeze-freeze').catch(() => 0)
  return Number(frozen) > 0
}

/** Lets them go on, if they hold still. Throws when the agent does not answer. */
export async function thawFileSystems(agent: string): Promise<void> {
  const status = await askAgent(agent, THAW_TIMEOUT_MS, 'guest-fsfreeze-status')
  if (status === 'frozen') await askAgent(agent, THAW_TIMEOUT_MS, 'guest-fsfreeze-thaw')
}

/** Sets the guest's clock, which stood still with its memory. Does nothing without an agent. */
export async function setGuestTime(agent: string, now: Date): Promise<void> {
  // Nanoseconds. It fails after it has set the time where the guest has no hwclock.
  await askAgent(agent, FREEZE_TIMEOUT_MS, 'guest-set-time', { time: now.getTime() * 1e6 }).catch(() => {})
}

async function askAgent(path: string, timeoutMs: number, command: string, args?: object): Promise<unknown> {
  const socket = connectToGuest(path)
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`The guest agent does not answer ${command}`)))
  const mark = randomInt(1, 2 ** 40)
  // The mark comes back first: what stands before it answers an earlier client.
  socket.write(`${JSON.stringify({ execute: 'guest-sync', arguments: { id: mark } })}\n`)
  socket.write(`${JSON.stringify({ execute: command, arguments: args })}\n`)
  let isMine = false
  try {
    for await (const line of createInterface({ input: socket })) {
      const reply = parse(line)
      if (isMine && reply?.error) throw new Error(`${command}: ${reply.error.desc}`)
      if (isMine && reply && 'return' in reply) return reply.return
      if (reply?.return === mark) isMine = true
    }
  } finally {
    socket.destroy()
  }
  throw new Error(`The guest agent hung up on ${command}`)
}

/** Undefined for what an earlier client left half-read. */
function parse(line: string): { return?: unknown; error?: { desc: string } } | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
