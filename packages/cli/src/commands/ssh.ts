import type { AddCommands } from '../add-command.ts'
import type { Call } from '../call.ts'
import { isSandbox } from '../find.ts'
import { orNotRun } from '../or-not-run.ts'
import { sandboxHost, sandboxKey } from '../sandbox-ssh.ts'
import { shellWord } from '../shell-words.ts'
import { optionWords, runHere, strictOptions } from '../ssh-access.ts'
import { vpsAccess } from '../vps-access.ts'

export const ssh: AddCommands = (program, act) => {
  program
    .command('ssh')
    .description(
      'log in to a VPS or a sandbox by SSH, only if it has the host key that the service published',
    )
    .argument('<name>', 'or user@name')
    .argument('[words...]', 'a command to run there, and options of ssh, such as -L 8080:localhost:80')
    .passThroughOptions()
    .action(
      act((call, name: string, words: string[]) =>
        orNotRun(async () => runHere(call.terminal, 'ssh', [...(await wordsFor(call, name)), ...words])),
      ),
    )
}

/** How a shell calls this program, which may be in no folder of PATH. */
const itself = () => [process.execPath, process.argv[1]!].map(shellWord).join(' ')

async function wordsFor(call: Call, place: string): Promise<string[]> {
  const [, user, name] = /^(?:([a-z_][a-z0-9_-]*)@)?(.*)$/.exec(place)!
  const service = await call.service()
  if (isSandbox(name!)) {
    await sandboxKey(call.terminal.env)
    const options = sandboxHost(call.terminal.env, service.url, itself()).filter(
      ([option]) => option !== 'User',
    )
    return [...optionWords(options), `${user ?? 'user'}@${name}`]
  }
  const access = await vpsAccess(call.terminal, service, await call.client(), name!)
  return [
    ...optionWords(strictOptions(access.knownHostsFile)),
    ...['-p', String(access.port), `${user ?? access.username}@${access.host}`],
  ]
}
