import type { NextStep } from '@coinrack/contract/wire.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'
import { OperationError } from '../../platform/errors.ts'
import type { HostPorts, HostRoom } from '../../platform/host-facts.ts'
import type { Ordering } from '../../platform/seams.ts'
import type { Services } from '../../platform/services.ts'
import { freeAddress } from '../machine/own-address.ts'
import { askRoom, unusedPorts } from './ask-host.ts'

/** What machines take of the host. */
export interface Share {
  memory_mb: number
  disk_gb: number
}

/** What is left of it, and whether an address is. */
export interface FreeShare extends Share {
  hasAddress: boolean
}

/** What the machines that are there or wanted have taken. */
export const taken: Ordering['taken'] = async (db) => {
  const { rows } = await db.query<Share>(
    `select coalesce(sum(memory_mb), 0)::float8 as memory_mb, coalesce(sum(disk_gb), 0)::float8 as disk_gb
     from vps where machine_gone_at is null`,
  )
  return rows[0]!
}

/** What no machine has taken, wanted ones included, and no sandbox. */
export async function freeShare(
  db: Queryable,
  services: Services,
  { capacity: total, hasOwnNetworks }: HostRoom,
): Promise<FreeShare> {
  const machines = await taken(db)
  const sandboxes = await services.sandboxing.taken(db, services.config)
  return {
    memory_mb: total.memoryMb - machines.memory_mb - sandboxes.memory_mb,
    disk_gb: total.diskGb - machines.disk_gb - sandboxes.disk_gb,
    hasAddress: hasOwnNetworks && (await freeAddress(db, services)) !== undefined,
  }
}

/** For the catalog: which sizes would fit now. */
export const roomFor: Ordering['roomFor'] = async (services) => {
  const free = await freeShare(services.db, services, await askRoom(services))
  return (plan) => fits(plan, free)
}

export const fits = (wanted: Share & { network?: 'nat' | 'dedicated' }, free: FreeShare) =>
  wanted.memory_mb <= free.memory_mb &&
  wanted.disk_gb <= free.disk_gb &&
  (wanted.network !== 'dedicated' || free.hasAddress)

const RETRY_S = 60

const seePlans = [{ tool: 'list_plans', why: 'See which plans and images are available now' }]

/**
 * What is answered when a machine cannot be placed now.
 * @param nextSteps what can be asked for in its place
 */
export const noRoom = (why: string, nextSteps: NextStep[] = seePlans) =>
  new OperationError('capacity', why, { retryAfter: RETRY_S, nextSteps })

/** A port of the range that no machine has, nor anything else on the host as far as it is known. */
export async function freePublicPort(
  db: Queryable,
  { config }: Services,
  ports: HostPorts,
): Promise<number | undefined> {
  return (await unusedPorts(db, config, ports, 1))[0]
}

/** Whether a machine, also of another service, or a program of the host has the port. */
export async function isPortTaken(tx: Transaction, { used }: HostPorts, port: number): Promise<boolean> {
  if (used.has(port)) return true
  const { rowCount } = await tx.query(
    `select from vps where ssh_port = $1 and machine_gone_at is null and ipv4 is null
     union all select from vps_port where public_port = $1 limit 1`,
    [port],
  )
  return rowCount !== 0
}
