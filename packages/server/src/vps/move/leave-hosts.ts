import { inTransaction } from '../../database/transaction.ts'
import { type HostRow, hostRows } from '../../hosts/host-store.ts'
import type { PassReport } from '../../platform/pass-report.ts'
import type { Services } from '../../platform/services.ts'
import { lockVps } from '../machine/vps-store.ts'
import { loseVps } from './lose-vps.ts'
import { insertMove, stayingOn } from './move-store.ts'

/**
 * Wants the machines of hosts elsewhere that are evacuated, or dead where their disks can be read without them. Those of other
 * dead hosts are given up. Takes no input, and may run in several processes at once.
 */
export async function leaveHosts(services: Services): Promise<PassReport> {
  const { db } = services
  let seen = 0
  for (const host of await hostRows(db)) {
    if (host.state !== 'evacuating' && host.state !== 'dead') continue
    for (const { id } of await stayingOn(db, host.id)) {
      seen++
      await leave(services, host, id)
    }
  }
  return { seen, done: seen, failed: 0 }
}

async function leave(services: Services, host: HostRow, id: string): Promise<void> {
  const { db, hosts, clock } = services
  const isDead = host.state === 'dead'
  await inTransaction(db, async (tx) => {
    const row = await lockVps(tx, id)
    if (row.host_id !== host.id || row.machine_gone_at !== null || row.host_state !== host.state) return
    const isLost = isDead && (row.wanted === 'deleted' || !hosts.get(host.id)?.cluster?.hasSharedDisks)
    // A new one is made on another host instead, by whoever tends it.
    if (isDead && row.status === 'provisioning') return
    if (isLost) return loseVps(tx, services, row, host.seen_at ?? clock.now())
    if (row.wanted === 'deleted') return
    const notice_hours = isDead ? 0 : host.notice_hours
    await insertMove(tx, { id, wanted_host: null, notice_hours, wished_at: clock.now() })
  })
}
