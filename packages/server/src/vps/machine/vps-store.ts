import type { vpsStatuses } from '@coinrack/contract/vps.ts'
import type { Cycle } from '@coinrack/money/index.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'
import type { Metrics } from '../../dispatch/read-models.ts'

export type VpsStatus = (typeof vpsStatuses)[number]

export interface VpsRow {
  id: string
  account_id: string
  order_id: string
  product: string
  os_id: number
  os_name: string
  image: string
  region: string
  /** Where its machine runs. */
  host_id: string
  /** Hosts on which it could not be made. */
  refused_by: string[]
  hostname: string
  vcpus: number
  memory_mb: number
  disk_gb: number
  ssh_key: string | null
  ssh_host: string
  ssh_port: number
  /** The machine's own address. */
  ipv4: string | null
  ipv6: string | null
  ssh_host_public_key: string
  ssh_host_private_key: Buffer
  root_password_hash: string
  password_available: boolean
  wanted: 'running' | 'stopped' | 'deleted'
  wanted_boot: number
  forced: boolean
  status: VpsStatus
  done_boot: number
  ssh_ready: boolean
  failure_reason: string | null
  attempts: number
  observation: Metrics | null
  provisioning_since: Date
  price: bigint
  price_hourly: bigint
  cycle: Cycle
  auto_renew: boolean
  /** The token by which it does; null: it is older than budgets. */
  renewer_id: string | null
  /** Months end at its day and time. */
  anchor_at: Date | null
  paid_until: Date | null
  noticed_days: number | null
  /** When a suspended VPS is deleted, and its previous status. */
  delete_at: Date | null
  suspended_from: VpsStatus | null
  cancel_at_period_end: boolean
  wanted_network: number
  done_network: number
  created_at: Date
  machine_gone_at: Date | null
  hostname_pending: boolean
  next_root_password_hash: string | null
  boot_password_hash: string | null
  wished_at: Date | null
  wish_failure: string | null
  wanted_disk: number
  done_disk: number
  /** How it comes up on a new disk. */
  boot: 'auto' | 'cold'
  set_aside_as: string | null
  put_back: string | null
  /** Sealed, until its machine has it. */
  user_data: Buffer | null
  rescue: boolean
  done_rescue: boolean
  /** Something that was asked of it goes on. */
  has_work: boolean
}

const HAS_WORK = `exists (select from vps_operation where service_id = vps.id and status = 'running') as has_work`

const COLUMNS = `id, account_id, order_id, product, os_id, os_name, image, region, host_id, refused_by, hostname, vcpus, memory_mb, disk_gb,
  ssh_key, ssh_host, ssh_port, ipv4, ipv6, ssh_host_public_key, ssh_host_private_key, root_password_hash,
  root_password is not null as password_available, wanted, wanted_boot, forced, status, done_boot, ssh_ready,
  failure_reason, attempts, observation, provisioning_since, price, price_hourly, cycle, auto_renew, renewer_id,
  anchor_at, paid_until, noticed_days, delete_at, suspended_from, cancel_at_period_end, wanted_network, done_network,
  created_at, machine_gone_at, hostname_pending, next_root_password_hash, boot_password_hash, wished_at, wish_failure,
  wanted_disk, done_disk, boot, set_aside_as, put_back, user_data, rescue, done_rescue, ${HAS_WORK}`

export type NewVps = Pick<
  VpsRow,
  | 'id'
  | 'account_id'
  | 'order_id'
  | 'product'
  | 'os_id'
  | 'os_name'
  | 'image'
  | 'region'
  | 'host_id'
  | 'hostname'
  | 'vcpus'
  | 'memory_mb'
  | 'disk_gb'
  | 'ssh_key'
  | 'ssh_host'
  | 'ssh_port'
  | 'ipv4'
  | 'ipv6'
  | 'ssh_host_public_key'
  | 'ssh_host_private_key'
  | 'root_password_hash'
  | 'user_data'
  | 'price'
  | 'price_hourly'
  | 'cycle'
  | 'auto_renew'
  | 'renewer_id'
  | 'created_at'
  | 'boot'
> & { root_password: Buffer }

/** A new VPS: wanted running, not there yet. */
export async function insertVps(tx: Transaction, row: NewVps): Promise<void> {
  const given = { ...row, wanted: 'running', status: 'provisioning', provisioning_since: row.created_at }
  const names = Object.keys(given)
  await tx.query(
    `insert into vps (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(given),
  )
}

export async function vpsById(db: Queryable, id: string): Promise<VpsRow> {
  const { rows } = await db.query<VpsRow>({
    name: 'vps_by_id',
    text: `select ${COLUMNS} from vps where id = $1`,
    values: [id],
  })
  return rows[0]!
}

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

export type VpsToDo = Pick<VpsRow, (typeof TO_DO)[number] | 'has_work'>

/** Every VPS that may have a machine. Read with each pass, so no more of it than the pass needs. */
export async function vpsWithMachines(db: Queryable): Promise<VpsToDo[]> {
  const { rows } = await db.query<VpsToDo>({
    name: 'vps_with_machines',
    text: `select ${TO_DO.join(', ')}, ${HAS_WORK} from vps where machine_gone_at is null order by id`,
  })
  return rows
}

/**
 * Takes the root password, for the first of any number of callers at the same moment.
 * @returns the sealed password, or undefined when it was taken before or the machine is not ready
 */
export async function takeRootPassword(db: Queryable, id: string): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ root_password: Buffer }>(
    `with secret as (
       select id, root_password from vps
       where id = $1 and root_password is not null and ssh_ready and status = 'active'
       for update
     )
     update vps set root_password = null from secret where vps.id = secret.id
     returning secret.root_password`,
    [id],
  )
  return rows[0]?.root_password
}

/** The root password that was not shown yet. */
export async function sealedRootPassword(db: Queryable, id: string): Promise<Buffer | null> {
  const { rows } = await db.query<{ root_password: Buffer | null }>(
    'select root_password from vps where id = $1',
    [id],
  )
  return rows[0]!.root_password
}

/** Changes what is wanted or was seen. Fields that are left out stay. */
export async function updateVps(
  db: Queryable,
  id: string,
  change: Partial<
    Pick<
      VpsRow,
      | 'wanted'
      | 'wanted_boot'
      | 'forced'
      | 'status'
      | 'done_boot'
      | 'ssh_ready'
      | 'failure_reason'
      | 'attempts'
      | 'observation'
      | 'cycle'
      | 'auto_renew'
      | 'renewer_id'
      | 'anchor_at'
      | 'paid_until'
      | 'noticed_days'
      | 'delete_at'
      | 'suspended_from'
      | 'cancel_at_period_end'
      | 'machine_gone_at'
      | 'os_id'
      | 'os_name'
      | 'image'
      | 'product'
      | 'vcpus'
      | 'memory_mb'
      | 'disk_gb'
      | 'hostname'
      | 'ssh_key'
      | 'host_id'
      | 'refused_by'
      | 'region'
      | 'ssh_host'
      | 'ssh_port'
      | 'ipv4'
      | 'ipv6'
      | 'ssh_host_public_key'
      | 'ssh_host_private_key'
      | 'root_password_hash'
      | 'price'
      | 'price_hourly'
      | 'hostname_pending'
      | 'next_root_password_hash'
      | 'boot_password_hash'
      | 'wished_at'
      | 'wish_failure'
      | 'wanted_disk'
      | 'done_disk'
      | 'set_aside_as'
      | 'put_back'
      | 'user_data'
      | 'rescue'
      | 'done_rescue'
    >
  > & { root_password?: Buffer | null; next_root_password?: Buffer | null },
): Promise<void> {
  const names = Object.keys(change)
  await db.query(
    `update vps set ${names.map((name, index) => `${name} = $${index + 2}`).join(', ')} where id = $1`,
    [id, ...Object.values(change)],
  )
}

/**
 * Writes down what was seen of a machine, unless something else is wanted of it by now. One that can be seen like this
 * has its user data.
 * @returns whether it was written
 */
export async function recordVps(
  db: Queryable,
  row: Pick<VpsRow, 'id' | 'status' | 'wanted' | 'wanted_boot'>,
  seen: Pick<VpsRow, 'status' | 'ssh_ready' | 'observation'>,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update vps set status = $5, ssh_ready = $6, observation = $7, user_data = null
     where id = $1 and status = $2 and wanted = $3 and wanted_boot = $4`,
    [row.id, row.status, row.wanted, row.wanted_boot, seen.status, seen.ssh_ready, seen.observation],
  )
  return rowCount === 1
}

/** The machine goes by this name now. Another that was wished meanwhile is still to come. */
export async function keepHostname(db: Queryable, id: string, hostname: string): Promise<void> {
  await db.query(
    'update vps set hostname_pending = false, wish_failure = null where id = $1 and hostname = $2',
    [id, hostname],
  )
}

/** The machine has taken the password over whose hash this is: from now on it is the one to be shown. */
export async function keepNextPassword(db: Queryable, id: string, hash: string): Promise<void> {
  await db.query(
    `update vps set root_password = next_root_password, root_password_hash = next_root_password_hash,
       next_root_password = null, next_root_password_hash = null, boot_password_hash = null, wish_failure = null
     where id = $1 and next_root_password_hash = $2`,
    [id, hash],
  )
}
