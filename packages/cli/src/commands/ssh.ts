import { Vps } from '@coinrack/sdk/index.ts'
import type { AddCommands } from '../add-command.ts'
import { findVps } from '../find.ts'
import { orNotRun } from '../or-not-run.ts'
import { keepHostKeys, runHere, sshWords } from '../ssh-access.ts'

export const ssh: AddCommands = (program, act) => {
  program
    .command('ssh')
    .description('log in to a VPS by SSH, only if it has the host key that the service published')
    .argument('<name>')
    .argument('[words...]', 'a command to run there, and options of ssh, such as -L 8080:localhost:80')
    .passThroughOptions()
    .action(
      act((call, name: string, words: string[]) =>
        orNotRun(async () => {
          const vps = await findVps(await call.client(), name)
          const access = await Vps.connect(await call.service(), vps.id).ssh()
          const knownHosts = await keepHostKeys(call.terminal.env, vps.id, access.knownHosts)
          return runHere(call.terminal, 'ssh', [...sshWords(access, knownHosts), ...words])
        }),
      ),
    )
}
