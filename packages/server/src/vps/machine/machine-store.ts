import type { vpsStatuses } from '@coinrack/contract/vps.ts'
import { assignments } from '../../database/columns.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'
import type { Metrics } from '../../dispatch/read-models.ts'

export type VpsStatus = (typeof vpsStatuses)[number]

/** The wishes for a machine, the last observation of it, and how it is reached. */
export interface MachineRow {
  host_id: string
  /** Hosts on which it could not be made. */
  refused_by: string[]
  region: string
  os_id: number
  os_name: string
  image: string
  hostname: string
  vcpus: number
  memory_mb: number
  disk_gb: number
  /** How it comes up on a new disk. */
  boot: 'auto' | 'cold'
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
  /** Sealed, until the machine has it. */
  user_data: Buffer | null
  wanted: 'running' | 'stopped' | 'deleted'
  forced: boolean
  wanted_boot: number
  done_boot: number
  wanted_disk: number
  done_disk: number
  wanted_network: number
  done_network: number
  rescue: boolean
  done_rescue: boolean
  set_aside_as: string | null
  put_back: string | null
  hostname_pending: boolean
  next_root_password_hash: string | null
  boot_password_hash: string | null
  wished_at: Date | null
  wish_failure: string | null
  status: VpsStatus
  /** The status before the suspension. */
  suspended_from: VpsStatus | null
  ssh_ready: boolean
  failure_reason: string | null
  attempts: number
  observation: Metrics | null
  provisioning_since: Date
  machine_gone_at: Date | null
}

export const MACHINE_COLUMNS = `host_id, refused_by, region, os_id, os_name, image, hostname, vcpus, memory_mb, disk_gb, boot,
  ssh_key, ssh_host, ssh_port, ipv4, ipv6, ssh_host_public_key, ssh_host_private_key, root_password_hash,
  root_password is not null as password_available, user_data, wanted, forced, wanted_boot, done_boot, wanted_disk, done_disk,
  wanted_network, done_network, rescue, done_rescue, set_aside_as, put_back, hostname_pending, next_root_password_hash,
  boot_password_hash, wished_at, wish_failure, status, suspended_from, ssh_ready, failure_reason, attempts, observation,
  provisioning_since, machine_gone_at`

export type NewMachine = Pick<
  MachineRow,
  | 'host_id'
  | 'region'
  | 'os_id'
  | 'os_name'
  | 'image'
  | 'hostname'
  | 'vcpus'
  | 'memory_mb'
  | 'disk_gb'
  | 'boot'
  | 'ssh_key'
  | 'ssh_host'
  | 'ssh_port'
  | 'ipv4'
  | 'ipv6'
  | 'ssh_host_public_key'
  | 'ssh_host_private_key'
  | 'root_password_hash'
  | 'user_data'
> & { root_password: Buffer }

type MachineChange = Partial<
  Omit<MachineRow, 'password_available' | 'wanted_network' | 'done_network' | 'boot' | 'provisioning_since'>
> & { root_password?: Buffer | null; next_root_password?: Buffer | null }

/** Changes what is wanted of a machine, or what was observed of it. Fields that are left out stay. */
export async function updateMachine(db: Queryable, id: string, change: MachineChange): Promise<void> {
  await db.query(`update vps_machine set ${assignments(change, 2)} where id = $1`, [
    id,
    ...Object.values(change),
  ])
}

/** Wants a machine gone, with what is kept for its guest. */
export const giveUpMachine = (
  tx: Transaction,
  id: string,
  change: { status: 'deleted' } | { status: 'failed'; failure_reason: string } = { status: 'deleted' },
): Promise<void> =>
  updateMachine(tx, id, {
    ...change,
    wanted: 'deleted',
    ssh_ready: false,
    root_password: null,
    user_data: null,
  })

/** Suspends a machine: it is powered off, and what its owner wants of it stays. */
export const suspendMachine = (
  tx: Transaction,
  { id, status, wanted_boot }: Pick<MachineRow, 'status' | 'wanted_boot'> & { id: string },
): Promise<void> =>
  updateMachine(tx, id, {
    status: 'suspended',
    suspended_from: status,
    // No boot is owed any more: the next start is one.
    done_boot: wanted_boot,
  })

/**
 * Wants a suspended machine on again, as its owner left it.
 * @returns its status from now on
 */
export async function releaseMachine(
  tx: Transaction,
  row: Pick<MachineRow, 'suspended_from' | 'wanted' | 'put_back' | 'done_disk'> & { id: string },
): Promise<VpsStatus> {
  const wasReinstalling = row.suspended_from === 'reinstalling'
  const status = wasReinstalling ? 'reinstalling' : row.wanted === 'stopped' ? 'stopped' : 'rebooting'
  await updateMachine(tx, row.id, {
    status,
    suspended_from: null,
    // A disk that a reinstall had begun is made anew; a previous disk is still to be put back.
    ...(wasReinstalling && row.put_back === null ? { wanted_disk: row.done_disk + 1, attempts: 0 } : {}),
  })
  return status
}

/**
 * Writes down what was seen of a machine, unless something else is wanted of it by now. One that can be seen like this
 * has its user data.
 * @returns whether it was written
 */
export async function recordMachine(
  db: Queryable,
  row: Pick<MachineRow, 'status' | 'wanted' | 'wanted_boot'> & { id: string },
  seen: Pick<MachineRow, 'status' | 'ssh_ready' | 'observation'>,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update vps_machine set status = $5, ssh_ready = $6, observation = $7, user_data = null
     where id = $1 and status = $2 and wanted = $3 and wanted_boot = $4`,
    [row.id, row.status, row.wanted, row.wanted_boot, seen.status, seen.ssh_ready, seen.observation],
  )
  return rowCount === 1
}

/** Writes down what was seen of machines that are as they are wanted. */
export async function recordObservations(
  db: Queryable,
  seen: readonly { id: string; observation: Metrics }[],
): Promise<void> {
  await db.query({
    name: 'record_observations',
    text: `update vps_machine set observation = seen.observation
      from unnest($1::text[], $2::jsonb[]) as seen (id, observation) where vps_machine.id = seen.id`,
    values: [seen.map(({ id }) => id), seen.map(({ observation }) => JSON.stringify(observation))],
  })
}

/**
 * Takes the root password, for the first of any number of callers at the same moment.
 * @returns the sealed password, or undefined when it was taken before or the machine is not ready
 */
export async function takeRootPassword(db: Queryable, id: string): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ root_password: Buffer }>(
    `with secret as (
       select id, root_password from vps_machine
       where id = $1 and root_password is not null and ssh_ready and status = 'active'
       for update
     )
     update vps_machine set root_password = null from secret where vps_machine.id = secret.id
     returning secret.root_password`,
    [id],
  )
  return rows[0]?.root_password
}

/** The root password that was not shown yet. */
export async function sealedRootPassword(db: Queryable, id: string): Promise<Buffer | null> {
  const { rows } = await db.query<{ root_password: Buffer | null }>(
    'select root_password from vps_machine where id = $1',
    [id],
  )
  return rows[0]!.root_password
}

/** Records that the guest goes by this name. Another that was wished meanwhile is still to come. */
export async function keepHostname(db: Queryable, id: string, hostname: string): Promise<void> {
  await db.query(
    'update vps_machine set hostname_pending = false, wish_failure = null where id = $1 and hostname = $2',
    [id, hostname],
  )
}

/** Records that the guest has taken over the password with this hash: from then on it is the one to be shown. */
export async function keepNextPassword(db: Queryable, id: string, hash: string): Promise<void> {
  await db.query(
    `update vps_machine set root_password = next_root_password, root_password_hash = next_root_password_hash,
       next_root_password = null, next_root_password_hash = null, boot_password_hash = null, wish_failure = null
     where id = $1 and next_root_password_hash = $2`,
    [id, hash],
  )
}
