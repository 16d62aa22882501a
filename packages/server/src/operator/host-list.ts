import { allHosts, type HostOverview } from '../hosts/host-overview.ts'
import type { Command } from './command.ts'
import { table } from './table.ts'

export const hostList: Command = {
  name: 'host list',
  arguments: '',
  summary: 'Hosts that machines run on, what they have, and what is taken of it',
  takes: 0,
  async run(operator) {
    const hosts = (await allHosts(await operator.db())).map(shownHost)
    return {
      json: hosts,
      text: table(
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
      ),
    }
  },
}

const ofAll = (taken: number, all: number | null) => `${taken} of ${all ?? 'unknown'}`

export const shownHost = ({ seen_at, tended_until, ...host }: HostOverview) => ({
  ...host,
  tended_until: tended_until?.toISOString() ?? null,
  seen_at: seen_at?.toISOString() ?? null,
})
