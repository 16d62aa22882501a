import type { Queryable, Transaction } from '../database/transaction.ts'
import type { Services } from '../platform/services.ts'

export interface DepositAddress {
  /** Lower-case. */
  address: string
  /** Null: the account belongs to the paying wallet. */
  account_id: string | null
  /** Null: the account's own address. The invoice itself may have been deleted. */
  invoice_id: string | null
}

/** The counter of the shared address for purchases without an account. Sequences begin above it. */
const DOOR = 0n

/**
 * The shared address for purchases without an account, lower-case. It is known without a row, so that asking for a price
 * writes none; a payment to it belongs to the account of the wallet that sent it.
 */
export const doorAddress = ({ depositAddressOf }: Pick<Services, 'depositAddressOf'>): string =>
  depositAddressOf(DOOR).toLowerCase()

/** Stores the shared address, when the first payment comes. */
export async function ensureDoorAddress(tx: Transaction, services: Services): Promise<void> {
  await tx.query(
    `insert into deposit_address (counter, address, account_id, invoice_id, created_at) values ($1, $2, null, null, $3)
     on conflict do nothing`,
    [DOOR, doorAddress(services), services.clock.now()],
  )
}

/** Creates the account's own deposit address when it is first needed. */
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

/** The account's own deposit address, lower-case; undefined when it has none. */
export async function accountAddress(db: Queryable, accountId: string): Promise<string | undefined> {
  const { rows } = await db.query<{ address: string }>(
    'select address from deposit_address where account_id = $1 and invoice_id is null',
    [accountId],
  )
  return rows[0]?.address
}

/** Creates the deposit address of one invoice. */
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
  /** Loads the addresses that were added since the last call. */
  refresh(): Promise<void>
  find(address: string): DepositAddress | undefined
}

/** How many addresses are read at once: reading all at once would hold those of a large installation in memory twice. */
const PAGE = 10_000

/**
 * Rereads each address for ten minutes after its creation: the transaction that made it can commit after a younger one.
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
      // Only now, because a concurrent call for another chain has to read all pages too.
      if (newest === null || (seen !== null && seen > newest)) newest = seen
    },
    find: (address) => known.get(address),
  }
}
