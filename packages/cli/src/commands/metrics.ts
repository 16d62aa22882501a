import { type Client, Sandbox } from '@coinrack/sdk/index.ts'
import { Option } from 'commander'
import type { AddCommands } from '../add-command.ts'
import type { Call } from '../call.ts'
import { findVps, isSandbox } from '../find.ts'
import { sparkline } from '../sparkline.ts'
import { facts } from '../table.ts'

type Range = '1h' | '24h' | '7d' | '30d'
type Series = Awaited<ReturnType<Client['getVpsMetrics']>>['series'][number]

export const metrics: AddCommands = (program, act) => {
  program
    .command('metrics')
    .description('show what a VPS used over time, or what a sandbox uses now')
    .argument('<name>')
    .addOption(new Option('--range <range>', 'of a VPS').choices(['1h', '24h', '7d', '30d']).default('1h'))
    .action(
      act((call, name: string, { range }: { range: Range }) =>
        isSandbox(name) ? ofSandbox(call, name) : ofVps(call, name, range),
      ),
    )
}

/** What a line has beside its bars. */
const BESIDE = 48
const LEAST_BARS = 20

async function ofVps(call: Call, name: string, range: Range): Promise<void> {
  const client = await call.client()
  const { id, hostname } = await findVps(client, name)
  const answer = await client.getVpsMetrics({ service_id: id, range })
  const width = Math.max(LEAST_BARS, (call.terminal.stdout.columns ?? 80) - BESIDE)
  call.show(answer, () => [
    `${hostname}, ${range} in steps of ${answer.step} s`,
    ...answer.series.map((series) => lineOf(series, width)),
  ])
}

function lineOf({ name, unit, points }: Series, width: number): string {
  const values = points.map(([, value]) => value!)
  if (values.length === 0) return `${name.padEnd(17)} nothing was observed`
  const most = Math.max(...values)
  return `${name.padEnd(17)} ${sparkline(values, width)} now ${amount(values.at(-1)!, unit)}, most ${amount(most, unit)}`
}

function amount(value: number, unit: Series['unit']): string {
  if (unit === 'percent') return `${round(value)} %`
  if (unit === 'mb') return `${round(value)} MB`
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let size = value
  let index = 0
  while (size >= 1000 && index < units.length - 1) {
    size /= 1000
    index++
  }
  return `${round(size)} ${units[index]}`
}

const round = (value: number) => (value < 10 ? Math.round(value * 10) / 10 : Math.round(value))

async function ofSandbox(call: Call, id: string): Promise<void> {
  const used = await Sandbox.connect(await call.service(), id).metrics()
  call.show(used, () =>
    facts([
      ['processor', `${used.cpu_seconds} s of ${used.vcpus} vCPU`],
      ['memory', `${Math.round(used.memory_used_mb)} of ${Math.round(used.memory_total_mb)} MB`],
      ['disk', `${Math.round(used.disk_used_mb)} of ${Math.round(used.disk_total_mb)} MB`],
      ['processes', used.processes],
    ]),
  )
}
