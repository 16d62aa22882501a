import type { Transaction } from '../../database/transaction.ts'
import { recordEvent } from '../../platform/record-event.ts'
import type { Services } from '../../platform/services.ts'
import type { VpsStatus } from './machine-store.ts'
import type { VpsRow } from './vps-store.ts'

type Before = Pick<
  VpsRow,
  'id' | 'account_id' | 'hostname' | 'status' | 'ssh_ready' | 'ssh_host' | 'ssh_port'
>

/** Tells the account what became of its VPS, in the transaction that changes it; nothing when nothing did. */
export async function notifyChange(
  tx: Transaction,
  services: Services,
  before: Before,
  now: { status: VpsStatus; ssh_ready?: boolean },
): Promise<void> {
  const service = { service_id: before.id, hostname: before.hostname }
  if (now.status !== before.status) {
    await recordEvent(tx, services, before.account_id, 'vps.status_changed', {
      ...service,
      from: before.status,
      to: now.status,
    })
  }
  if (now.ssh_ready && !before.ssh_ready) {
    await recordEvent(tx, services, before.account_id, 'vps.ssh_ready', {
      ...service,
      ip: before.ssh_host,
      ssh_port: before.ssh_port,
    })
  }
}
