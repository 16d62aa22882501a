import { allHosts, machinesOf, orphansOf } from '../hosts/host-overview.ts'
import { type Command, RefusedError } from './command.ts'
import { shownHost } from './host-list.ts'
import { table } from './table.ts'

export const hostShow: Command = {
  name: 'host show',
  arguments: '<id>',
  summary: 'One host, with the machines on it, and those there that belong to no VPS',
  takes: 1,
  async run(operator, [id]) {
    const db = await operator.db()
    const found = (await allHosts(db)).find((host) => host.id === id)
    if (!found) throw new RefusedError(`There is no host ${id}`)
    const host = shownHost(found)
    const machines = await machinesOf(db, host.id)
    const orphans = (await orphansOf(db, host.id)).map(({ machine_id, found_at }) => ({
      machine_id,
      found_at: found_at.toISOString(),
    }))
    const facts = Object.entries(host).map(([name, value]) => `${name}: ${value ?? ''}`.trimEnd())
    return {
      json: { ...host, machines_there: machines, orphans_there: orphans },
      text: [
        facts.join('\n'),
        table(['id', 'account_id', 'hostname', 'product', 'status'], machines),
        ...(orphans.length > 0 ? [`Of no VPS:\n${table(['machine_id', 'found_at'], orphans)}`] : []),
      ].join('\n\n'),
    }
  },
}
