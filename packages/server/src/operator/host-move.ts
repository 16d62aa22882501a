import { announce } from '../database/changes.ts'
import { inTransaction } from '../database/transaction.ts'
import { lockVps, vpsById } from '../vps/machine/vps-store.ts'
import { insertMove } from '../vps/move/move-store.ts'
import { RECONCILE_VPS } from '../vps/topics.ts'
import { type Command, RefusedError } from './command.ts'
import { demandHost } from './demand-host.ts'
import { noticeOption, noticeText, readNotice } from './read-notice.ts'

export const hostMove: Command = {
  name: 'host move',
  arguments: '<vps> <host> [--stop-after <hours>]',
  summary: 'Moves one VPS to another host of its cluster, with its disk, its snapshots and its address',
  takes: 2,
  options: noticeOption,
  async run(operator, [id, to], options) {
    const db = await operator.db()
    const notice_hours = readNotice(options)
    const target = await demandHost(db, to!)
    const known = await vpsById(db, id!)
    if (!known) throw new RefusedError(`There is no VPS ${id}`)
    const source = await demandHost(db, known.host_id)
    if (source.id === target.id) throw new RefusedError(`${id} is on ${to} already`)
    if (source.cluster === null || source.cluster !== target.cluster)
      throw new RefusedError(
        `${source.id} and ${to} are not in one cluster, and machines move only inside of one`,
      )
    if (target.state !== 'open')
      throw new RefusedError(`${to} is ${target.state}: host open ${to} lets it have machines again`)
    await inTransaction(db, async (tx) => {
      const { machine_gone_at, wanted } = await lockVps(tx, id!)
      if (machine_gone_at !== null || wanted === 'deleted') throw new RefusedError(`${id} has ended`)
      await insertMove(tx, { id: id!, wanted_host: to!, notice_hours, wished_at: operator.clock.now() })
      await announce(tx, RECONCILE_VPS)
    })
    return {
      json: { id, from: source.id, to, stop_after_hours: notice_hours },
      text: `${id} moves from ${source.id} to ${to}.\n${noticeText(notice_hours)}.\nhost show ${source.id} tells how far that is.`,
    }
  },
}
