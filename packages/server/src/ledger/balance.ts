import type { Queryable, Transaction } from '../database/transaction.ts'

/** The balance of a customer in micro-USD, each part at least zero. */
export interface CustomerBalance {
  /** The amount that can be spent now. */
  available: bigint
  /** The amount reserved by holds, which is not part of `available`. */
  held: bigint
  /** The debt that a reversed payment left. */
  owed: bigint
}

const COLUMNS = 'available, held, -owed as owed'

export async function readBalance(db: Queryable, accountId: string): Promise<CustomerBalance> {
  const { rows } = await db.query<CustomerBalance>(
    `select ${COLUMNS} from customer_balance where account_id = $1`,
    [accountId],
  )
  return rows[0] ?? { available: 0n, held: 0n, owed: 0n }
}

/** Locks and reads the balance: a decision based on it holds until the transaction ends. */
export async function lockBalance(tx: Transaction, accountId: string): Promise<CustomerBalance> {
  const { rows } = await tx.query<CustomerBalance>(
    `select ${COLUMNS} from customer_balance where account_id = $1 for update`,
    [accountId],
  )
  if (!rows[0]) throw new Error(`Account ${accountId} has no balance`)
  return rows[0]
}

/** Locks and reads the balances of several accounts, in the order of their ids so that two such calls never deadlock. */
export async function lockBalances(
  tx: Transaction,
  accountIds: readonly string[],
): Promise<Map<string, CustomerBalance>> {
  const { rows } = await tx.query<CustomerBalance & { account_id: string }>({
    name: 'ledger_lock_balances',
    text: `select account_id, ${COLUMNS} from customer_balance where account_id = any($1) order by account_id for update`,
    values: [accountIds],
  })
  return new Map(rows.map(({ account_id, ...balance }) => [account_id, balance]))
}

/** When the current debt of an account began; undefined when it owes nothing. */
export async function owedSince(db: Queryable, accountId: string): Promise<Date | undefined> {
  const { rows } = await db.query<{ owed_since: Date | null }>(
    'select owed_since from customer_balance where account_id = $1',
    [accountId],
  )
  return rows[0]?.owed_since ?? undefined
}

/** Accounts that owe although they have money, which did not come by a deposit: a deposit pays debts itself. */
export async function ableDebtors(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>(
    'select account_id from customer_balance where owed_since is not null and owed < 0 and available > 0',
  )
  return rows.map(({ account_id }) => account_id)
}

/** Opens the balance of a new account, at zero. */
export async function openBalance(tx: Transaction, accountId: string): Promise<void> {
  await tx.query('insert into customer_balance (account_id) values ($1)', [accountId])
}
