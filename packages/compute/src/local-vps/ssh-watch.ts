import { readFile } from 'node:fs/promises'
import { answersSsh } from '@coinrack/host/answers-ssh.ts'
import { isFirstBootPending, type Machine } from '../machine/machine.ts'
import type { SshAddress } from '../ports/vps-driver.ts'

/** The line that our images write to the serial port once their SSH server runs. */
const SAYS_UP = 'coinrack: ssh is up'
/** A machine that its owner has changed may not say it: such a one is tried at this pace. */
const BLIND_TRY_MS = 10_000

/**
 * Remembers of each machine whether an SSH server has answered since it was started. Every try is a connection that the
 * guest must serve, also one that was given up before it came up: so the watch knocks when the serial line says that
 * SSH is up, and never again after an answer.
 */
export function sshWatch(clock: { now(): Date }) {
  const answered = new Map<string, number>()
  const lastBlindTry = new Map<string, number>()

  const isWorthTrying = async (machine: Machine): Promise<boolean> => {
    if (await isFirstBootPending(machine)) return false
    if ((await readFile(machine.serialLog, 'utf8').catch(() => '')).includes(SAYS_UP)) return true
    const now = clock.now().getTime()
    const isDue = now - (lastBlindTry.get(machine.id) ?? 0) >= BLIND_TRY_MS
    if (isDue) lastBlindTry.set(machine.id, now)
    return isDue
  }

  return {
    /** Whether SSH has answered since process `pid` became this machine; `address` is where this host reaches it. */
    async hasAnswered(machine: Machine, pid: number, address: SshAddress): Promise<boolean> {
      if (answered.get(machine.id) === pid) return true
      if (!(await isWorthTrying(machine))) return false
      const isUp = await answersSsh(address)
      if (isUp) answered.set(machine.id, pid)
      return isUp
    },
    /** The machine boots anew, or is gone. */
    forget(id: string) {
      answered.delete(id)
      lastBlindTry.delete(id)
    },
  }
}
