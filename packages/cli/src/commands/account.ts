import type { AddCommands } from '../add-command.ts'
import { facts } from '../table.ts'

export const account: AddCommands = (program, act) => {
  program
    .command('whoami')
    .description('show the account and what this login may do')
    .action(
      act(async (call) => {
        const me = await (await call.client()).whoami()
        const url = await call.origin()
        call.show(me, () =>
          facts([
            ['service', url],
            ['account', me.id],
            ['e-mail', me.email],
            ['token', `${me.token.id}${me.token.name === null ? '' : ` (${me.token.name})`}`],
            ['scopes', me.token.scopes.join(', ')],
            ['expires', me.token.expires_at],
            ['spent today', me.token.spent.today],
            ['spent in all', me.token.spent.total],
          ]),
        )
      }),
    )
}
