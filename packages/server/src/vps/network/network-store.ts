import { type FirewallPolicy, type OpenPort, openPolicy } from '@coinrack/compute/ports/network-policy.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'
import type { VpsRow } from '../machine/vps-store.ts'

export interface NetworkRow {
  firewall: FirewallPolicy
  ports: OpenPort[]
  /** How often a change was wanted, and how many of those the machine has. */
  wanted_network: number
  done_network: number
}

/** The network that is wanted for a machine. */
export async function networkOf(db: Queryable, id: string): Promise<NetworkRow> {
  const { rows } = await db.query<Omit<NetworkRow, 'firewall'> & { firewall: FirewallPolicy | null }>(
    `select firewall, wanted_network, done_network,
       (select coalesce(jsonb_agg(
          jsonb_build_object('protocol', protocol, 'port', port, 'publicPort', public_port) order by public_port), '[]')
        from vps_port where vps_id = vps_machine.id) as ports
     from vps_machine where id = $1`,
    [id],
  )
  const row = rows[0]!
  return { ...row, firewall: row.firewall ?? openPolicy.firewall }
}

export async function setFirewallOf(tx: Transaction, id: string, firewall: FirewallPolicy): Promise<void> {
  await tx.query('update vps_machine set firewall = $2, wanted_network = wanted_network + 1 where id = $1', [
    id,
    firewall,
  ])
}

export async function insertPort(
  tx: Transaction,
  { id, host_id }: Pick<VpsRow, 'id' | 'host_id'>,
  port: OpenPort,
): Promise<void> {
  await tx.query(
    'insert into vps_port (vps_id, host_id, protocol, port, public_port) values ($1, $2, $3, $4, $5)',
    [id, host_id, port.protocol, port.port, port.publicPort],
  )
  await wantNetwork(tx, id)
}

/** @returns whether it was open */
export async function deletePort(tx: Transaction, id: string, publicPort: number): Promise<boolean> {
  const { rowCount } = await tx.query('delete from vps_port where vps_id = $1 and public_port = $2', [
    id,
    publicPort,
  ])
  if (rowCount) await wantNetwork(tx, id)
  return Boolean(rowCount)
}

/** Frees the ports of a machine that is gone. */
export async function freePorts(db: Queryable, id: string): Promise<void> {
  await db.query('delete from vps_port where vps_id = $1', [id])
}

const wantNetwork = (tx: Transaction, id: string) =>
  tx.query('update vps_machine set wanted_network = wanted_network + 1 where id = $1', [id])
