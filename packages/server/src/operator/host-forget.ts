import { inTransaction } from '../database/transaction.ts'
import { forgetHost, lockHost, SANDBOX_HOST, setHostState } from '../hosts/host-store.ts'
import { endMembership } from '../sandbox-hosts/membership-store.ts'
import { type Command, type Operator, RefusedError, type Result } from './command.ts'
import { demandHost } from './demand-host.ts'

export const hostForget: Command = {
  name: 'host forget',
  arguments: '<id> [--lose-sandboxes]',
  summary:
    'Shows a host no more that has nothing on it and is not in the settings; a sandbox host is let in no more from then on',
  takes: 1,
  options: { 'lose-sandboxes': { type: 'boolean' } },
  async run(operator, [id], options) {
    const db = await operator.db()
    const { kind } = await demandHost(db, id!)
    if (kind === SANDBOX_HOST) return forgetSandboxHost(operator, id!, options)
    await inTransaction(db, async (tx) => {
      await lockHost(tx, id!)
      const { machines, sandboxes, state } = await demandHost(tx, id!)
      if (machines + sandboxes > 0)
        throw new RefusedError(
          `${id} has ${machines} machines and ${sandboxes} sandboxes.\n  Empty it first: host evacuate ${id}, or host declare-dead ${id} when its power is off for good.`,
        )
      if (state === 'open')
        throw new RefusedError(
          `${id} still gets machines.\n  Take it out of the settings, and drain it: host drain ${id}`,
        )
      await forgetHost(tx, id!, operator.clock.now())
    })
    return {
      json: { id },
      text: `${id} is forgotten. While the settings name it, it comes back when it answers.`,
    }
  },
}

/** Revokes its certificates in the same transaction: whatever it does, it is not heard any more. */
async function forgetSandboxHost(
  operator: Operator,
  id: string,
  options: Record<string, string>,
): Promise<Result> {
  const lost = await inTransaction(await operator.db(), async (tx) => {
    await lockHost(tx, id)
    const { sandboxes } = await demandHost(tx, id)
    if (sandboxes > 0 && !options['lose-sandboxes'])
      throw new RefusedError(
        `${id} has ${sandboxes} sandboxes.\n  Drain it (host drain ${id}): what is paused moves, and what runs ends by itself. Or say --lose-sandboxes: all that is on it ends now, but for what has a copy elsewhere.`,
      )
    await setHostState(tx, id, 'draining')
    await endMembership(tx, id)
    await forgetHost(tx, id, operator.clock.now())
    return sandboxes
  })
  return {
    json: { id, sandboxes_lost: lost },
    text: `${id} is forgotten and let in no more.${lost > 0 ? ` Its ${lost} sandboxes end; the time since they were last seen is not charged.` : ''}\nhost invite ${id} lets a machine join by this name again.`,
  }
}
