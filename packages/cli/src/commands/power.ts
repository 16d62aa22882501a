import { Vps } from '@coinrack/sdk/index.ts'
import type { AddCommands } from '../add-command.ts'
import { findVps } from '../find.ts'

type Action = 'start' | 'stop' | 'reboot' | 'force_stop' | 'reset'

export const power: AddCommands = (program, act) => {
  const commands: [string, string, Action, Action | undefined][] = [
    ['start', 'start a VPS', 'start', undefined],
    ['stop', 'shut a VPS down', 'stop', 'force_stop'],
    ['reboot', 'reboot a VPS', 'reboot', 'reset'],
  ]
  for (const [name, description, gentle, hard] of commands) {
    const command = program
      .command(name)
      .description(`${description}, and wait until that is done`)
      .argument('<name>')
    if (hard) command.option('--force', 'do not ask its system first')
    command.action(
      act(async (call, machine: string, { force }: { force?: boolean }) => {
        const { id, hostname } = await findVps(await call.client(), machine)
        const vps = Vps.connect(await call.service(), id)
        const line = call.waiting(`${name} of ${hostname}`)
        try {
          await vps.power(force && hard ? hard : gentle, {
            signal: call.terminal.signal,
            onChange: ({ progress }) => line.note(progress),
          })
        } finally {
          line.end()
        }
        const info = await vps.info()
        call.show(info, () => `${hostname} is ${info.status}`)
      }),
    )
  }
}
