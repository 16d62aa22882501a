import { formatUsd, Vps } from '@coinrack/sdk/index.ts'
import type { AddCommands } from '../add-command.ts'
import { confirm } from '../ask.ts'
import { all } from '../collect.ts'
import { findVps } from '../find.ts'
import { rememberNames } from '../known-names.ts'
import { number } from '../number-option.ts'
import { facts, table } from '../table.ts'
import { vpsRow, waitUntilReady } from '../wait-until-ready.ts'

export const vps: AddCommands = (program, act) => {
  program
    .command('list')
    .alias('ls')
    .description('list the VPS')
    .action(
      act(async (call) => {
        const found = await all((await call.client()).listVps.all())
        await rememberNames(
          call.terminal.env,
          found.map(({ hostname }) => hostname),
        )
        call.show(found, () =>
          table(['NAME', 'STATUS', 'PLAN', 'SYSTEM', 'SSH', 'PAID UNTIL', 'ID'], found.map(vpsRow)),
        )
      }),
    )
  program
    .command('show')
    .description('show a VPS')
    .argument('<name>')
    .action(
      act(async (call, name: string) => {
        const client = await call.client()
        const { id } = await findVps(client, name)
        const found = await client.getVpsStatus({ service_id: id, reveal: false })
        call.show(found, () =>
          facts([
            ['id', found.id],
            ['name', found.hostname],
            ['status', `${found.status}${found.failure_reason ? `: ${found.failure_reason}` : ''}`],
            ['plan', found.product],
            ['system', found.os.name],
            ['region', found.region],
            ['ssh', found.ssh.command],
            ['ipv6', found.ipv6],
            ['paid until', found.billing?.paid_until],
            ['renews itself', found.billing?.auto_renew ? 'yes' : 'no'],
            ['processor', found.metrics.cpu_percent === null ? null : `${found.metrics.cpu_percent} %`],
            [
              'memory',
              found.metrics.memory_used_mb === null ? null : `${found.metrics.memory_used_mb} MB used`,
            ],
          ]),
        )
      }),
    )
  program
    .command('wait')
    .description('wait until SSH of a VPS answers, and show how to log in')
    .argument('<name>')
    .option('--timeout <seconds>', 'how long', number)
    .action(
      act(async (call, name: string, { timeout }: { timeout?: number }) => {
        const client = await call.client()
        const { id } = await findVps(client, name)
        await waitUntilReady(call, client, id, timeout)
      }),
    )
  program
    .command('rename')
    .description('give a VPS another host name')
    .argument('<name>')
    .argument('<new name>')
    .action(
      act(async (call, name: string, hostname: string) => {
        const client = await call.client()
        const { id } = await findVps(client, name)
        const answer = await client.setHostname({ service_id: id, hostname })
        call.show(answer.service, () => `${name} is now ${answer.service.hostname}`)
      }),
    )
  program
    .command('renew')
    .description('pay more time of a VPS from the balance')
    .argument('<name>')
    .option('--months <count>', 'how many', number, 1)
    .action(
      act(async (call, name: string, { months }: { months: number }) => {
        const client = await call.client()
        const { id } = await findVps(client, name)
        const answer = await client.renewService({ service_id: id, months })
        call.show(
          answer,
          () =>
            `Charged ${formatUsd(answer.charged)} USD: paid until ${answer.service.billing?.paid_until?.toISOString() ?? 'unknown'}`,
        )
      }),
    )
  program
    .command('cancel')
    .description('end a VPS with its paid time, or now with --now, which credits the rest')
    .argument('<name>')
    .option('--now', 'at once: its disk is lost')
    .option('--yes', 'do not ask')
    .action(
      act(async (call, name: string, { now = false, yes }: { now?: boolean; yes?: boolean }) => {
        const service = await call.service()
        const client = await call.client()
        const { id, hostname } = await findVps(client, name)
        if (now) await confirm(call.terminal, `End ${hostname} now, with all that is on it?`, yes)
        const answer = await Vps.connect(service, id).cancel(
          now ? { mode: 'immediate', confirm: hostname } : { mode: 'end_of_period' },
        )
        call.show(answer, () =>
          now
            ? `${hostname} is ended; ${formatUsd(answer.credited)} USD are credited`
            : `${hostname} ends with its paid time, ${answer.service.billing?.paid_until?.toISOString() ?? 'unknown'}`,
        )
      }),
    )
}
