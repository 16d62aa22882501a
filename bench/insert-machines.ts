import type { Queryable } from '@coinrack/server/database/transaction.ts'

/**
 * Inserts a running machine of the smallest plan for each order.
 * @param hosts spread over `host-1` to so many; on the local host when left out
 */
export async function insertMachines(db: Queryable, hosts?: number): Promise<void> {
  await db.query(
    `insert into vps_identity (id, account_id, order_id, created_at) select service_id, account_id, id, created_at from vps_order`,
  )
  await db.query(
    `insert into vps_machine (id, host_id, region, os_id, os_name, image, hostname, vcpus, memory_mb, disk_gb, ssh_host, ssh_port,
       ssh_host_public_key, ssh_host_private_key, root_password_hash, wanted, status, provisioning_since)
     select service_id, coalesce('host-' || (1 + n % $1::int), 'local'), 'east', os_id, 'Debian', 'debian-12', hostname, 1, 512, 10,
       '192.0.2.1', 20000 + n / coalesce($1::int, 1), '', '', '', 'running', 'active', created_at
     from (select *, row_number() over (order by id)::int as n from vps_order) numbered`,
    [hosts ?? null],
  )
  await db.query(
    `insert into vps_billing (id, product, price, price_hourly) select service_id, product, price, price_hourly from vps_order`,
  )
}
