import { type Client, formatUsd, Sandbox } from '@coinrack/sdk/index.ts'
import type { AddCommands } from '../add-command.ts'
import { all } from '../collect.ts'
import { findSandbox } from '../find.ts'
import { number } from '../number-option.ts'
import { type SandboxOptions, sandboxInput, withSandboxOptions } from '../sandbox-options.ts'
import { facts, table } from '../table.ts'

type Shown = Awaited<ReturnType<Client['getSandbox']>>

export const sandboxes: AddCommands = (program, act) => {
  const group = program.command('sandbox').alias('sb').description('sandboxes for code, paid by the second')
  group
    .command('list')
    .alias('ls')
    .description('list the sandboxes that are not over')
    .action(
      act(async (call) => {
        const found = await all((await call.client()).listSandboxes.all())
        call.show(found, () =>
          table(
            ['ID', 'STATE', 'TARIFF', 'TEMPLATE', 'RAN', 'COST', 'ENDS'],
            found.map((one) => [
              one.id,
              one.state,
              one.tariff,
              one.template,
              `${Math.round(one.seconds)} s`,
              one.cost,
              one.expires_at,
            ]),
          ),
        )
      }),
    )
  withSandboxOptions(
    group
      .command('create')
      .description('start a sandbox, and show its identifier')
      .option('--persistent', 'pause it at its end, in place of ending it'),
  ).action(
    act(async (call, options: SandboxOptions & { persistent?: boolean }) => {
      const sandbox = await Sandbox.create(await call.service(), {
        ...sandboxInput(options),
        ...(options.persistent && { mode: 'persistent' as const }),
      })
      const info = await sandbox.info()
      call.show(info, () => info.id)
    }),
  )
  group
    .command('show')
    .description('show a sandbox, and what it has cost')
    .argument('<id>', 'or its beginning')
    .action(
      act(async (call, id: string) => {
        const sandbox = await findSandbox(await call.service(), await call.client(), id)
        const info = await sandbox.info()
        call.show(info, () => describe(info))
      }),
    )
  const changes: [string, string, (sandbox: Sandbox) => Promise<Shown>][] = [
    ['kill', 'end a sandbox, with all that is in it', (sandbox) => sandbox.kill()],
    ['pause', 'keep memory and disk of a sandbox, at no cost', (sandbox) => sandbox.pause()],
    ['resume', 'let a paused sandbox go on', (sandbox) => sandbox.resume()],
  ]
  for (const [name, description, change] of changes)
    group
      .command(name)
      .description(description)
      .argument('<id>', 'or its beginning')
      .action(
        act(async (call, id: string) => {
          const info = await change(await findSandbox(await call.service(), await call.client(), id))
          call.show(info, () => `${info.id} is ${info.state}; it has cost ${formatUsd(info.cost)} USD`)
        }),
      )
  group
    .command('expose')
    .description('give a port of a sandbox an address')
    .argument('<id>', 'or its beginning')
    .argument('<port>', undefined, number)
    .option('--private', 'it takes a token too')
    .action(
      act(async (call, id: string, port: number, options: { private?: boolean }) => {
        const sandbox = await findSandbox(await call.service(), await call.client(), id)
        const exposed = await sandbox.expose(port, options.private ? 'token' : 'public')
        call.show(exposed, () => [
          exposed.url,
          ...(exposed.token === null ? [] : [`X-Preview-Token: ${exposed.token}`]),
        ])
      }),
    )
}

const describe = (info: Shown) =>
  facts([
    ['id', info.id],
    ['state', `${info.state}${info.reason ? `: ${info.reason}` : ''}`],
    ['tariff', `${info.tariff}, ${formatUsd(info.price_per_hour)} USD an hour`],
    ['template', info.template],
    ['size', `${info.vcpus} vCPU, ${info.memory_mb} MB, ${info.disk_gb} GB`],
    ['ran', `${Math.round(info.seconds)} s`],
    ['cost', `${formatUsd(info.cost)} USD`],
    ['ends', info.expires_at],
  ])
