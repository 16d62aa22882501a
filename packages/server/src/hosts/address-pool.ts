import { networkInterfaces } from 'node:os'
import type { Queryable, Transaction } from '../database/transaction.ts'
import { addressesIn } from '../platform/ipv4.ts'
import type { HostNetwork } from '../platform/machine-host.ts'
import type { StoredFeature } from './features.ts'

/** The use that machines have made of an address. */
export interface AddressUse {
  ipv4: string
  taken: boolean
  /** When the last machine that had it was gone. */
  free_since: Date | null
}

/**
 * The address for the next machine: one that none had yet, else the one that has been free for longest, since the
 * world remembers for a while whose it was. Undefined when none is free.
 */
export function chooseAddress(pool: string[], used: AddressUse[]): string | undefined {
  const uses = new Map(used.map((use) => [use.ipv4, use]))
  const freeSince = (address: string) => uses.get(address)?.free_since?.getTime() ?? 0
  return pool
    .filter((address) => !uses.get(address)?.taken)
    .reduce<string | undefined>(
      (best, address) => (best !== undefined && freeSince(best) <= freeSince(address) ? best : address),
      undefined,
    )
}

/** The addresses of the pool, without those that this host and its router have for themselves. */
function pool({ addressPool, addressGateway }: HostNetwork): string[] {
  const own = Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address))
  const reserved = new Set([addressGateway, ...own])
  return addressesIn(addressPool).filter((address) => !reserved.has(address))
}

/** An address that no machine has. The caller holds the lock of the host until it is written down as taken. */
export async function freeAddress(db: Queryable, network: HostNetwork): Promise<string | undefined> {
  if (network.addressPool.length === 0) return undefined
  return chooseAddress(pool(network), await usesOf(db))
}

/** Whether a machine can have this address of the pool now. */
export async function isFreeAddress(db: Queryable, network: HostNetwork, address: string): Promise<boolean> {
  const present = pool(network).filter((other) => other === address)
  return chooseAddress(present, await usesOf(db)) !== undefined
}

async function usesOf(db: Queryable): Promise<AddressUse[]> {
  const { rows } = await db.query<AddressUse>(
    `select ipv4, bool_or(machine_gone_at is null) as taken, max(machine_gone_at) as free_since
     from vps_machine where ipv4 is not null group by ipv4`,
  )
  return rows
}

/** An IPv6 address that no machine had before; null where the host has none to give. */
export async function nextIpv6(
  tx: Transaction,
  { ipv6Prefix }: HostNetwork,
  features: readonly StoredFeature[],
): Promise<string | null> {
  if (ipv6Prefix === undefined || !features.includes('ipv6')) return null
  const { rows } = await tx.query<{ ipv6: string }>(
    `select host($1::inet + nextval('vps_ipv6_number')) as ipv6`,
    [ipv6Prefix],
  )
  return rows[0]!.ipv6
}
