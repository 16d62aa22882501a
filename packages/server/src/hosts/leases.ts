import type { MachineHost } from '../platform/machine-host.ts'
import type { PassReport } from '../platform/pass-report.ts'
import type { Services } from '../platform/services.ts'

/** How long a process that is killed holds up its hosts. */
const LEASE_MS = 15_000
/** The share of a lease after which its holder relies on it no more: clocks may run differently, and calls take a moment. */
const RELIED_ON = 0.8

/** A call that would change a machine of a host that another process may be tending by now: it was not made. */
export class LeaseLostError extends Error {
  override name = 'LeaseLostError'
  constructor(hostId: string) {
    super(`The lease of the host ${hostId} is over; another process may tend it`)
  }
}

/** The hosts that this process tends because no other does. */
export interface Leases {
  /**
   * Takes hosts that no process tends, half of them at a time so that other processes get some too, and keeps those
   * that it has.
   */
  renew(): Promise<PassReport>
  /** The ids of the hosts that it can rely on now. */
  held(): string[]
  /** Lets others have them. Call it once nothing is done on them any more. */
  release(): Promise<void>
}

/**
 * Leases of hosts that are reached over a network, one process each. The clock of the database decides who may have
 * one; the holder measures from before it asked, by a monotonic clock, so that it stops relying on a lease before
 * another process can take it.
 * @param holder a name that no other process has
 * @param now milliseconds of a clock that only runs forward
 * @source C. Gray, D. Cheriton, "Leases: An Efficient Fault-Tolerant Mechanism for Distributed File Cache Consistency"
 * (1989)
 */
export function createLeases(
  { db }: Pick<Services, 'db'>,
  {
    hosts,
    holder,
    leaseMs = LEASE_MS,
    now = () => performance.now(),
  }: { hosts: readonly string[]; holder: string; leaseMs?: number | undefined; now?: () => number },
): Leases {
  const until = new Map<string, number>()
  return {
    async renew() {
      const asked = now()
      const { rows } = await db.query<{ id: string }>(
        `with free as (
           select id from host where id = any($1) and tended_by is distinct from $2
             and (tended_until is null or tended_until <= clock_timestamp())
           order by id for update skip locked
         ), taken as (select id from free limit (select (count(*) + 1) / 2 from free))
         update host set tended_by = $2, tended_until = clock_timestamp() + $3 * interval '1 millisecond'
         where id = any($1) and (tended_by = $2 or id in (select id from taken))
         returning id`,
        [hosts, holder, leaseMs],
      )
      until.clear()
      for (const { id } of rows) until.set(id, asked + leaseMs * RELIED_ON)
      return { seen: hosts.length, done: 0, failed: 0 }
    },
    held: () => [...until].flatMap(([id, end]) => (now() < end ? [id] : [])),
    async release() {
      until.clear()
      await db.query('update host set tended_by = null, tended_until = null where tended_by = $1', [holder])
    },
  }
}

type Ports = Pick<MachineHost, 'driver' | 'snapshots' | 'retainedDisks'>

/** The calls that change machines or what is kept of them. */
const CHANGING: { [P in keyof Ports]: readonly (keyof Ports[P])[] } = {
  driver: ['ensure', 'power', 'applyNetwork', 'changeAtBoot', 'destroy'],
  snapshots: ['take', 'restore', 'remove'],
  retainedDisks: ['setAside', 'putBack', 'remove'],
}

/**
 * The same host, whose machines are changed only under a lease that can be relied on: a process that stood still, and goes on after
 * another has taken the host over, does not undo what that one did.
 */
export function underLease<H extends MachineHost>(host: H, held: () => readonly string[]): H {
  const guarded = <P extends keyof Ports>(name: P): Ports[P] =>
    new Proxy(host[name] as Ports[P] & object, {
      get(target, call) {
        const value: unknown = Reflect.get(target, call)
        if (typeof value !== 'function' || !(CHANGING[name] as readonly unknown[]).includes(call))
          return value
        return async (...given: unknown[]) => {
          if (!held().includes(host.id)) throw new LeaseLostError(host.id)
          return value.apply(target, given)
        }
      },
    })
  const { cluster } = host
  return {
    ...host,
    driver: guarded('driver'),
    snapshots: guarded('snapshots'),
    retainedDisks: guarded('retainedDisks'),
    ...(cluster && {
      cluster: {
        ...cluster,
        migration: {
          async move(id: string, to: string) {
            if (!held().includes(host.id)) throw new LeaseLostError(host.id)
            return cluster.migration.move(id, to)
          },
        },
      },
    }),
  }
}
