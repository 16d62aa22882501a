import { inTransaction } from '../database/transaction.ts'
import { forgetHost, lockHost } from '../hosts/host-store.ts'
import { type Command, RefusedError } from './command.ts'
import { demandHost } from './demand-host.ts'

export const hostForget: Command = {
  name: 'host forget',
  arguments: '<id>',
  summary: 'Shows a host no more that has nothing on it and is not in the settings',
  takes: 1,
  async run(operator, [id]) {
    const db = await operator.db()
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
