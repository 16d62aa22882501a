import { machinesOf, orphansOf } from '../hosts/host-overview.ts'
import { type MoveRow, movesFrom } from '../vps/move/move-store.ts'
import type { Command } from './command.ts'
import { demandHost } from './demand-host.ts'
import { shownHost } from './host-list.ts'
import { table } from './table.ts'

export const hostShow: Command = {
  name: 'host show',
  arguments: '<id>',
  summary:
    'One host, with the machines on it, which of them move away, and those there that belong to no VPS',
  takes: 1,
  async run(operator, [id]) {
    const db = await operator.db()
    const host = shownHost(await demandHost(db, id!))
    const machines = await machinesOf(db, host.id)
    const orphans = (await orphansOf(db, host.id)).map(({ machine_id, found_at }) => ({
      machine_id,
      found_at: found_at.toISOString(),
    }))
    const moves = (await movesFrom(db, host.id)).map(shownMove)
    const facts = Object.entries(host).map(([name, value]) => `${name}: ${value ?? ''}`.trimEnd())
    return {
      json: { ...host, machines_there: machines, moves_away: moves, orphans_there: orphans },
      text: [
        facts.join('\n'),
        table(['id', 'account_id', 'hostname', 'product', 'status'], machines),
        ...(moves.length > 0
          ? [`Moving away:\n${table(['id', 'to', 'stop_from', 'next_try', 'trouble'], moves)}`]
          : []),
        ...(orphans.length > 0 ? [`Of no VPS:\n${table(['machine_id', 'found_at'], orphans)}`] : []),
      ].join('\n\n'),
    }
  },
}

const shownMove = ({ id, to_host, wanted_host, stop_from, due_at, trouble }: MoveRow) => ({
  id,
  to: to_host ?? wanted_host,
  stop_from: stop_from?.toISOString() ?? null,
  next_try: due_at.toISOString(),
  trouble,
})
