import { announce } from '../database/changes.ts'
import { setHostState } from '../hosts/host-store.ts'
import { RECONCILE_VPS } from '../vps/topics.ts'
import { type Command, RefusedError } from './command.ts'
import { demandHost } from './demand-host.ts'
import { noticeOption, noticeText, readNotice } from './read-notice.ts'

export const hostEvacuate: Command = {
  name: 'host evacuate',
  arguments: '<id> [--stop-after <hours>]',
  summary:
    'Drains a host and moves its machines to other hosts of its cluster, running ones without a stop where they can; `host open` ends that',
  takes: 1,
  options: noticeOption,
  async run(operator, [id], options) {
    const db = await operator.db()
    const noticeHours = readNotice(options)
    const { cluster, machines } = await demandHost(db, id!)
    if (cluster === null)
      throw new RefusedError(
        `${id} is in no cluster, so its machines cannot move.\n  Drain it with host drain: it is empty when its customers have left.`,
      )
    await setHostState(db, id!, 'evacuating', noticeHours)
    await announce(db, RECONCILE_VPS)
    return {
      json: { id, state: 'evacuating', machines, stop_after_hours: noticeHours },
      text: `${id} gets no new machines, and its ${machines} move to other hosts of ${cluster}.\n${noticeText(noticeHours)}.\nhost show ${id} tells how far that is.`,
    }
  },
}
