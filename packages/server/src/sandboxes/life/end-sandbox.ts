import { inTransaction, type Transaction } from '../../database/transaction.ts'
import { lockBalance } from '../../ledger/balance.ts'
import type { Services } from '../../platform/services.ts'
import { dropCopy } from '../copies/copy-store.ts'
import { type Seen, settleAccounts } from '../meter/settle-accounts.ts'
import { notifyEnded } from './notify-sandbox.ts'
import { type SandboxRow, sandboxById, updateSandbox } from './sandbox-store.ts'

/*
 * The end of a sandbox, or of the attempt to make it, as it is written down.
 */

/** How long sandboxes of one host have run on it. */
type RunOnHost = ReadonlyMap<string, { ranMs: number }>

export const seenOn = ({ host_id }: SandboxRow, seen: RunOnHost): Seen => new Map([[host_id, seen]])

/** It did not start: nobody pays for it. */
export const failStart = (services: Services, row: SandboxRow, failure: string): Promise<void> =>
  change(services, row, new Map(), async (tx, now, at) => {
    if (now.state !== 'starting') return
    const failed = { state: 'failed', wanted: 'ended', reason: 'failed', failure, ended_at: at } as const
    await notifyEnded(tx, services, await updateSandbox(tx, row.id, failed))
  })

/** Nothing is left of it that could run. */
export const writeEnd = (services: Services, row: SandboxRow, last: RunOnHost): Promise<void> =>
  change(services, row, last, async (tx, now, at) => {
    await dropCopy(tx, row.id)
    if (now.state === 'ended' || now.state === 'failed')
      return void (await updateSandbox(tx, row.id, { gone_at: at }))
    const ended = { state: 'ended', wanted: 'ended', ended_at: at, gone_at: at } as const
    const over = await updateSandbox(tx, row.id, {
      ...ended,
      ...(now.wanted !== 'ended' && { reason: row.reason }),
    })
    await notifyEnded(tx, services, over)
  })

/** Settles the account, in which this one no longer runs, and changes it, in one transaction. */
export async function change(
  services: Services,
  row: SandboxRow,
  seen: RunOnHost,
  write: (tx: Transaction, now: SandboxRow, at: Date) => Promise<void>,
): Promise<void> {
  const { id, account_id } = row
  await inTransaction(services.db, async (tx) => {
    await lockBalance(tx, account_id)
    const now = await sandboxById(tx, id)
    const isOver = now.wanted !== 'running' || now.state === 'starting'
    await settleAccounts(tx, services, [account_id], seenOn(row, seen), new Set(isOver ? [id] : []))
    await write(tx, now, services.clock.now())
  })
}

/** It stays what it is, and its owner is told why. */
export async function giveUp(services: Services, row: SandboxRow, failure: string): Promise<void> {
  // Asked for, it runs on; when its money or time is over, it cannot.
  if (row.state === 'running' && row.wanted === 'paused') {
    const wanted = row.reason === 'asked' ? 'running' : 'ended'
    await updateSandbox(services.db, row.id, { wanted, failure, attempts: 0 })
  } else if (row.state === 'paused') {
    await inTransaction(services.db, async (tx) => {
      await lockBalance(tx, row.account_id)
      await settleAccounts(tx, services, [row.account_id], new Map(), new Set([row.id]))
      await updateSandbox(tx, row.id, { wanted: 'paused', failure, attempts: 0 })
    })
  } else {
    await updateSandbox(services.db, row.id, { done_network: row.wanted_network, failure, attempts: 0 })
  }
}
