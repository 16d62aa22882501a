import type { Queryable } from '../database/transaction.ts'
import type { MachineHost } from '../platform/machine-host.ts'

/**
 * A public port of a host that is free as far as is known: that knowledge may be a few seconds old, so a port can turn
 * out to be taken. Undefined when there is none.
 * @param start any whole number: where the search begins, so that two that search at the same moment rarely meet, also
 * those of two services with the same range
 */
export async function freePort(
  db: Queryable,
  { id, network }: Pick<MachineHost, 'id' | 'network'>,
  start: number,
): Promise<number | undefined> {
  const { from, to } = network.sshPorts
  const first = from + (start % (to - from + 1))
  const { rows } = await db.query<{ port: number }>(
    // Without a sort the search ends at the first that is free.
    `select port from (
       select generate_series($4::int, $3::int) as port union all select generate_series($2::int, $4::int - 1)
     ) series
     where not exists (select from vps_machine where host_id = $1 and ssh_port = port and machine_gone_at is null)
       and not exists (select from vps_port where host_id = $1 and public_port = series.port)
       and port <> all (select unnest(used_ports) from host where id = $1)
     limit 1`,
    [id, from, to, first],
  )
  return rows[0]?.port
}

/**
 * Whether a machine, also of another service, or a program of the host has the port that a machine had.
 * @param goneAt when that machine went: what the host said before then may have meant that one
 */
export async function isPortTaken(
  db: Queryable,
  { id }: Pick<MachineHost, 'id'>,
  port: number,
  goneAt: Date,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from vps_machine where host_id = $1 and ssh_port = $2 and machine_gone_at is null and ipv4 is null
     union all select from vps_port where host_id = $1 and public_port = $2
     union all select from host where id = $1 and $2 = any (used_ports) and seen_at > $3 limit 1`,
    [id, port, goneAt],
  )
  return rowCount !== 0
}
