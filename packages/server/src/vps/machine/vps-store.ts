import { insertion } from '../../database/columns.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'
import type { HostState } from '../../hosts/host-store.ts'
import { BILLING_COLUMNS, type BillingRow, type NewBilling } from '../billing/billing-store.ts'
import { MACHINE_COLUMNS, type MachineRow, type NewMachine, type VpsStatus } from './machine-store.ts'

/** The owner of a VPS: never changed. */
interface VpsIdentity {
  id: string
  account_id: string
  order_id: string
  created_at: Date
}

/** A VPS: its identity, its machine, and what is paid for it. */
export interface VpsRow extends VpsIdentity, MachineRow, BillingRow {
  /** Something that was asked of it goes on. */
  has_work: boolean
  /** The features of its host. */
  features: string[]
  host_state: HostState
  /** The host that was chosen for it to move to; null when there is none. */
  move_to: string | null
  /** When the move is tried next. */
  move_due_at: Date | null
  /** From when on it is stopped for the move; null while that is not so. */
  move_stop_from: Date | null
}

const HAS_WORK = `exists (select from vps_operation where service_id = vps.id and status = 'running') as has_work`

const ofHost = (column: string) => `(select ${column} from host where host.id = host_id)`
const ofMove = (column: string) =>
  `(select ${column} from vps_move where vps_move.id = vps.id and to_host is not null)`
const MOVE_DUE = `${ofMove('due_at')} as move_due_at`
const MOVE = `${ofMove('to_host')} as move_to, ${MOVE_DUE}, ${ofMove('stop_from')} as move_stop_from`

const COLUMNS = `id, account_id, order_id, created_at, ${MACHINE_COLUMNS}, ${BILLING_COLUMNS}, ${HAS_WORK},
  ${ofHost('features')} as features, ${ofHost('state')} as host_state, ${MOVE}`

/** A new VPS: its machine is wanted running, and not there yet. */
export async function insertVps(
  tx: Transaction,
  identity: VpsIdentity,
  machine: NewMachine,
  billing: NewBilling,
): Promise<void> {
  const { id, created_at } = identity
  const wished = { id, ...machine, wanted: 'running', status: 'provisioning', provisioning_since: created_at }
  const paid = { id, ...billing }
  await tx.query(`insert into vps_identity ${insertion(identity)}`, Object.values(identity))
  await tx.query(`insert into vps_machine ${insertion(wished)}`, Object.values(wished))
  await tx.query(`insert into vps_billing ${insertion(paid)}`, Object.values(paid))
}

export async function vpsById(db: Queryable, id: string): Promise<VpsRow> {
  const { rows } = await db.query<VpsRow>({
    name: 'vps_by_id',
    text: `select ${COLUMNS} from vps where id = $1`,
    values: [id],
  })
  return rows[0]!
}

/** Several VPS, in the order of their ids here. */
export async function vpsByIds(db: Queryable, ids: readonly string[]): Promise<VpsRow[]> {
  const { rows } = await db.query<VpsRow>({
    name: 'vps_by_ids',
    text: `select ${COLUMNS} from vps where id = any($1)`,
    values: [ids],
  })
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => byId.get(id)!)
}

/** Locks all of a VPS, in the same order as everybody does. */
export async function lockVps(tx: Transaction, id: string): Promise<VpsRow> {
  const { rows } = await tx.query<VpsRow>(`select ${COLUMNS} from vps where id = $1 for update`, [id])
  return rows[0]!
}

/** Newest first, one more than `limit` when there are more. Failed and deleted ones only when asked for. */
export async function vpsOf(
  db: Queryable,
  accountId: string,
  filter: { limit: number; cursor?: string; status?: VpsStatus },
): Promise<VpsRow[]> {
  const { rows } = await db.query<VpsRow>(
    `select ${COLUMNS} from vps
     where account_id = $1 and ($3::text is null or id < $3)
       and case when $4::text is null then status not in ('failed', 'deleted') else status = $4 end
     order by id desc limit $2`,
    [accountId, filter.limit + 1, filter.cursor ?? null, filter.status ?? null],
  )
  return rows
}

/** The columns that tell whether something is to be done with a VPS. */
const TO_DO = [
  'id',
  'host_id',
  'status',
  'wanted',
  'ssh_ready',
  'wanted_boot',
  'done_boot',
  'wanted_network',
  'done_network',
  'wanted_disk',
  'done_disk',
  'attempts',
  'wished_at',
] as const satisfies (keyof VpsRow)[]

export type VpsToDo = Pick<VpsRow, (typeof TO_DO)[number] | 'has_work' | 'move_due_at'>

/** Every VPS that may have a machine on one of these hosts. Read with each pass, so no more of it than the pass needs. */
export async function vpsWithMachines(db: Queryable, hosts: readonly string[]): Promise<VpsToDo[]> {
  const { rows } = await db.query<VpsToDo>({
    name: 'vps_with_machines',
    text: `select ${TO_DO.join(', ')}, ${HAS_WORK}, ${MOVE_DUE} from vps_machine vps
      where machine_gone_at is null and host_id = any($1) order by id`,
    values: [hosts],
  })
  return rows
}
