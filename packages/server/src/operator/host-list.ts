import { allHosts, type HostOverview } from '../hosts/host-overview.ts'
import type { Command } from './command.ts'
import { table } from './table.ts'

export const hostList: Command = {
  name: 'host list',
  arguments: '',
  summary: 'Hosts that machines run on, what they have, and what is taken of it',
  takes: 0,
  async run(operator) {
    const all = await allHosts(await operator.db())
    const hosts = all.map(shownHost)
    return {
      json: hosts,
      text: `${table(
        [
          'id',
          'kind',
          'region',
          'state',
          'machines',
          'sandboxes',
          'memory_mb',
          'disk_gb',
          'orphans',
          'seen_at',
          'trouble',
        ],
        hosts.map((host) => ({
          ...host,
          memory_mb: ofAll(host.memory_taken_mb, host.memory_mb),
          disk_gb: ofAll(host.disk_taken_gb, host.disk_gb),
        })),
      )}\n\n${promisedOf(all)}`,
    }
  },
}

/** How much of what gets machines is promised already: when to order the next host. */
function promisedOf(hosts: readonly HostOverview[]): string {
  const open = hosts.filter(({ state, trouble }) => state === 'open' && trouble === null)
  const sum = (of: (host: HostOverview) => number | null) =>
    open.reduce((total, host) => total + (of(host) ?? 0), 0)
  const share = (taken: number, all: number) => (all === 0 ? 'none' : `${Math.round((taken / all) * 100)} %`)
  const memory = share(
    sum((host) => host.memory_taken_mb),
    sum((host) => host.memory_mb),
  )
  const disk = share(
    sum((host) => host.disk_taken_gb),
    sum((host) => host.disk_gb),
  )
  return `Promised of the hosts that get machines: ${memory} of the memory, ${disk} of the disk`
}

const ofAll = (taken: number, all: number | null) => `${taken} of ${all ?? 'unknown'}`

export const shownHost = ({ seen_at, tended_until, ...host }: HostOverview) => ({
  ...host,
  tended_until: tended_until?.toISOString() ?? null,
  seen_at: seen_at?.toISOString() ?? null,
})
