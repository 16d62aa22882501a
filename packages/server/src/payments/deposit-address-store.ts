import type { Queryable, Transaction } from '../database/transaction.ts'
import type { Services } from '../platform/services.ts'

export interface DepositAddress {
  /** Lower-case. */
  address: string
  /** Null: the account is that of the wallet that pays. */
  account_id: string | null
  /** Null: the account's own. The invoice itself may be forgotten. */
  invoice_id: string | null
}

/** The counter of the address that all buyers without an account pay to. Sequences begin above it. */
const DOOR = 0n

/**
 * Where all pay to who buy without an account, lower-case. It needs no row to be known, so that asking for a price writes
 * none; what arrives belongs to the account of the wallet that it comes from.
 */
export const doorAddress = ({ depositAddressOf }: Pick<Services, 'depositAddressOf'>): string =>
  depositAddressOf(DOOR).toLowerCase()

/** Writes that address down, when the first payment comes. */
export async function ensureDoorAddress(tx: Transaction, services: Services): Promise<void> {
  await tx.query(
    `insert into deposit_address (counter, address, account_id, invoice_id, created_at) values ($1, $2, null, null, $3)
     on conflict do nothing`,
    [DOOR, doorAddress(services), services.clock.now()],
  )
}

/** The account's own deposit address, made when it is first asked for. */
export async function ensureAccountAddress(
  tx: Transaction,
  services: Services,
  accountId: string,
): Promise<void> {
  const { rowCount } = await tx.query(
    'select from deposit_address where account_id = $1 and invoice_id is null',
    [accountId],
  )
  if (rowCount === 0) await addAddress(tx, services, accountId, null)
}

/** The account's own deposit address, where it has one; lower-case. */
export async function accountAddress(db: Queryable, accountId: string): Promise<string | undefined> {
  const { rows } = await db.query<{ address: string }>(
    'select address from deposit_address where account_id = $1 and invoice_id is null',
    [accountId],
  )
  return rows[0]?.address
}

/** The deposit address of one invoice. */
export async function addInvoiceAddress(
  tx: Transaction,
  services: Services,
  accountId: string,
  invoiceId: string,
): Promise<void> {
  await addAddress(tx, services, accountId, invoiceId)
}

async function addAddress(tx: Transaction, services: Services, accountId: string, invoiceId: string | null) {
  const { rows } = await tx.query<{ counter: bigint }>(`select nextval('deposit_counter') as counter`)
  const { counter } = rows[0]!
  await tx.query(
    `insert into deposit_address (counter, address, account_id, invoice_id, created_at) values ($1, $2, $3, $4, $5)
     on conflict (account_id) where invoice_id is null do nothing`,
    [counter, services.depositAddressOf(counter).toLowerCase(), accountId, invoiceId, services.clock.now()],
  )
}

/** All deposit addresses in memory: a chain shows every transfer of a token, and nearly none is for us. */
export interface KnownAddresses {
  /** Learns those that were added since. */
  refresh(): Promise<void>
  find(address: string): DepositAddress | undefined
}

/** Addresses that are read at once: all of a large installation would be in memory twice over. */
const PAGE = 10_000

/**
 * Addresses are read again for ten minutes after they were made: a transaction that made one can commit after a
 * younger one did.
 */
export function knownAddresses(services: Pick<Services, 'db' | 'depositAddressOf'>): KnownAddresses {
  const { db } = services
  const address = doorAddress(services)
  const known = new Map<string, DepositAddress>([[address, { address, account_id: null, invoice_id: null }]])
  let newest: Date | null = null

  return {
    async refresh() {
      let seen = newest
      for (let after = -1n, isMore = true; isMore; ) {
        const { rows } = await db.query<DepositAddress & { counter: bigint; created_at: Date }>(
          `select counter, address, account_id, invoice_id, created_at from deposit_address
           where ($1::timestamptz is null or created_at > $1::timestamptz - interval '10 minutes') and counter > $2
           order by counter limit $3`,
          [newest, after, PAGE],
        )
        for (const { counter, address, account_id, invoice_id, created_at } of rows) {
          known.set(address, { address, account_id, invoice_id })
          after = counter
          if (seen === null || created_at > seen) seen = created_at
        }
        isMore = rows.length === PAGE
      }
      // Only now: a caller who asks meanwhile, for another chain, has to read all of it too.
      if (newest === null || (seen !== null && seen > newest)) newest = seen
    },
    find: (address) => known.get(address),
  }
}
