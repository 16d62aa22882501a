import { assignments } from '../../database/columns.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'

/** A machine that is wanted on another host of its cluster. */
export interface MoveRow {
  /** The id of the VPS. */
  id: string
  /** The host that the operator named; null for any that has room. */
  wanted_host: string | null
  /** Where its place is taken; null until one is chosen. */
  to_host: string | null
  /** How long before its owner is told that it is stopped, where it cannot move while it runs; null: it is not stopped. */
  notice_hours: number | null
  /** From when on it is stopped for it, as its owner was told. */
  stop_from: Date | null
  due_at: Date
  /** Why it has not moved yet, for the operator. */
  trouble: string | null
  wished_at: Date
}

/** Wants a machine elsewhere. A wish that was there before gives way, and with it the place that was taken for it. */
export async function insertMove(
  tx: Transaction,
  {
    id,
    wanted_host,
    notice_hours,
    wished_at,
  }: Pick<MoveRow, 'id' | 'wanted_host' | 'notice_hours' | 'wished_at'>,
): Promise<void> {
  await tx.query(
    `insert into vps_move (id, wanted_host, notice_hours, due_at, wished_at) values ($1, $2, $3, $4, $4)
     on conflict (id) do update set wanted_host = $2, to_host = null, notice_hours = $3, due_at = $4, trouble = null, wished_at = $4`,
    [id, wanted_host, notice_hours, wished_at],
  )
}

export async function lockMove(tx: Transaction, id: string): Promise<MoveRow | undefined> {
  const { rows } = await tx.query<MoveRow>('select * from vps_move where id = $1 for update', [id])
  return rows[0]
}

export async function updateMove(
  db: Queryable,
  id: string,
  change: Partial<Pick<MoveRow, 'to_host' | 'stop_from' | 'due_at' | 'trouble'>>,
): Promise<void> {
  await db.query(`update vps_move set ${assignments(change, 2)} where id = $1`, [
    id,
    ...Object.values(change),
  ])
}

export async function endMove(db: Queryable, id: string): Promise<void> {
  await db.query('delete from vps_move where id = $1', [id])
}

/** Takes back the wishes of machines that are on a host: they stay. */
export async function endMovesFrom(db: Queryable, hostId: string): Promise<void> {
  await db.query(
    'delete from vps_move using vps_machine machine where machine.id = vps_move.id and host_id = $1',
    [hostId],
  )
}

/** Whether any machine is to move, or may be. */
export async function isAnyMoveWanted(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ is_any: boolean }>(
    `select exists (select from vps_move) or exists (select from host where state in ('evacuating', 'dead')) as is_any`,
  )
  return rows[0]!.is_any
}

/** The machines of a host that nobody wants elsewhere yet. */
export async function stayingOn(db: Queryable, hostId: string): Promise<{ id: string }[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from vps_machine machine where host_id = $1 and machine_gone_at is null
       and not exists (select from vps_move where vps_move.id = machine.id) order by id`,
    [hostId],
  )
  return rows
}

/** The moves away from a host, the oldest wish first. */
export async function movesFrom(db: Queryable, hostId: string): Promise<MoveRow[]> {
  const { rows } = await db.query<MoveRow>(
    `select vps_move.* from vps_move join vps_machine machine using (id) where host_id = $1 order by vps_move.wished_at, id`,
    [hostId],
  )
  return rows
}

/**
 * The machines for which a host can be chosen now, the oldest wish first: each host gives away a few at a time.
 * @param at of the wishes that are due
 */
export async function movesToPlace(db: Queryable, at: Date, atOnce: number): Promise<{ id: string }[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from (
       select vps_move.id, to_host, due_at, vps_move.wished_at,
         count(*) filter (where to_host is not null) over (partition by host_id) as under_way,
         row_number() over (partition by host_id, to_host is null order by due_at, vps_move.wished_at, vps_move.id) as turn
       from vps_move join vps_machine machine using (id)
       where machine_gone_at is null and (to_host is not null or due_at <= $1)
     ) waiting where to_host is null and under_way + turn <= $2 order by wished_at, id`,
    [at, atOnce],
  )
  return rows
}

/** Forgets the wishes for machines that are gone, or are there already. */
export async function endVoidMoves(db: Queryable): Promise<void> {
  await db.query(
    `delete from vps_move using vps_machine machine
     where machine.id = vps_move.id and (wanted = 'deleted' or machine_gone_at is not null or host_id = wanted_host)`,
  )
}
