import type { Work, workKinds } from '@coinrack/contract/work.ts'
import type { z } from 'zod'
import { announce } from '../../database/changes.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'
import type { Services } from '../../platform/services.ts'
import { judgeWork, type Verdict } from './judge-work.ts'
import { vpsById } from './vps-store.ts'

export type WorkKind = (typeof workKinds)[number]

export interface WorkRow extends Verdict {
  id: string
  service_id: string
  kind: WorkKind
  created_at: Date
  ended_at: Date | null
}

const COLUMNS = 'id, service_id, kind, status, progress, error, created_at, ended_at'

export async function workById(db: Queryable, id: string): Promise<WorkRow> {
  const { rows } = await db.query<WorkRow>(`select ${COLUMNS} from vps_operation where id = $1`, [id])
  return rows[0]!
}

/**
 * Writes down what was asked of a VPS, after it was written down what is wanted. The same, asked for before and still
 * going on, goes on. What the new wish makes void ends.
 */
export async function beginWork(
  tx: Transaction,
  { newId, clock }: Services,
  accountId: string,
  serviceId: string,
  kind: WorkKind,
): Promise<z.output<typeof Work>> {
  const row = await vpsById(tx, serviceId)
  const at = clock.now()
  const { status, progress, error } = judgeWork(kind, row)
  const { rows } = await tx.query<{ id: string }>(
    `insert into vps_operation (id, account_id, service_id, kind, status, progress, error, created_at, ended_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (service_id, kind) where status = 'running' do update set progress = excluded.progress
     returning id`,
    [
      newId('operation'),
      accountId,
      serviceId,
      kind,
      status,
      progress,
      error,
      at,
      status === 'running' ? null : at,
    ],
  )
  await settleWork(tx, serviceId, at)
  return workView(await workById(tx, rows[0]!.id))
}

/** Ends what is done or can't be done any more. Takes no input but the database; may be repeated. */
export async function settleWork(db: Queryable, serviceId: string, at: Date): Promise<void> {
  const { rows } = await db.query<WorkRow>(
    `select ${COLUMNS} from vps_operation where service_id = $1 and status = 'running'`,
    [serviceId],
  )
  if (rows.length === 0) return
  const row = await vpsById(db, serviceId)
  for (const work of rows) {
    const { status, progress, error } = judgeWork(work.kind, row)
    if (status === work.status && progress === work.progress) continue
    await db.query(
      `update vps_operation set status = $2, progress = $3, error = $4, ended_at = $5
       where id = $1 and status = 'running'`,
      [work.id, status, progress, error, status === 'running' ? null : at],
    )
    await announce(db, work.id)
  }
}

/** The work as the owner of the VPS sees it. */
export const workView = (row: WorkRow): z.output<typeof Work> => ({
  id: row.id,
  service_id: row.service_id,
  kind: row.kind,
  status: row.status,
  progress: row.progress,
  error: row.error,
  created_at: row.created_at,
  ended_at: row.ended_at,
})
