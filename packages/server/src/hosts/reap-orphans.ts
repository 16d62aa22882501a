import type { Queryable } from '../database/transaction.ts'
import type { MachineHost } from '../platform/machine-host.ts'
import type { Services } from '../platform/services.ts'

/** Time for an operator to see one, and to save what is on it: a database that was restored may know less than the hosts. */
const KEPT_MS = 86_400_000

/**
 * Finds the machines of a host that belong to no VPS there, such as what a process left that was killed while it moved one
 * to another host, and destroys those that have been so for a day. Takes no input, and can be killed at any step.
 * @param machines all that the host has, as it said a moment ago
 */
export async function reapOrphans(
  { db, clock, log }: Pick<Services, 'db' | 'clock' | 'log'>,
  { id: hostId, driver }: Pick<MachineHost, 'id' | 'driver'>,
  machines: readonly string[],
): Promise<void> {
  const now = clock.now()
  for (const id of await recordOrphans(db, hostId, machines, now))
    log.warn({ host: hostId, machine: id }, 'A machine belongs to no VPS; it is destroyed in a day')
  for (const id of await oldOrphans(db, hostId, new Date(now.getTime() - KEPT_MS))) {
    log.warn({ host: hostId, machine: id }, 'A machine that belonged to no VPS for a day is destroyed')
    await driver
      .destroy(id)
      .catch((error) =>
        log.error({ err: error, host: hostId, machine: id }, 'It could not be destroyed; it is tried again'),
      )
  }
}

/** Writes down which there are now. @returns those that were found this time */
async function recordOrphans(
  db: Queryable,
  hostId: string,
  machines: readonly string[],
  at: Date,
): Promise<string[]> {
  const { rows } = await db.query<{ machine_id: string }>(
    `with there as (
       select id from unnest($2::text[]) as there (id)
       where not exists (select from vps_machine where vps_machine.id = there.id and host_id = $1 and machine_gone_at is null)
     ),
     gone as (delete from orphan where host_id = $1 and machine_id not in (select id from there))
     insert into orphan (host_id, machine_id, found_at) select $1, id, $3 from there
     on conflict do nothing returning machine_id`,
    [hostId, machines, at],
  )
  return rows.map(({ machine_id }) => machine_id)
}

async function oldOrphans(db: Queryable, hostId: string, before: Date): Promise<string[]> {
  const { rows } = await db.query<{ machine_id: string }>(
    'select machine_id from orphan where host_id = $1 and found_at < $2',
    [hostId, before],
  )
  return rows.map(({ machine_id }) => machine_id)
}
