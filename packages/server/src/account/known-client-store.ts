import { createHmac } from 'node:crypto'
import type { Queryable, Transaction } from '../database/transaction.ts'
import type { Services } from '../platform/services.ts'

const KEPT_MS = 90 * 86_400_000

/** Remembers that a client logged in to an account from there. */
export async function rememberClient(
  tx: Transaction,
  services: Services,
  accountId: string,
  client: string,
): Promise<void> {
  await tx.query(
    `insert into known_client (account_id, client, at) values ($1, $2, $3)
     on conflict (account_id, client) do update set at = $3`,
    [accountId, hashClient(services, client), services.clock.now()],
  )
}

/** Whether a client logged in to an account from there in the last 90 days. */
export async function isKnownClient(
  db: Queryable,
  services: Services,
  accountId: string | null,
  client: string,
): Promise<boolean> {
  const { rowCount } = await db.query('select from known_client where account_id = $1 and client = $2', [
    accountId,
    hashClient(services, client),
  ])
  return rowCount === 1
}

/** Takes no input. */
export async function forgetOldClients(db: Queryable, now: Date): Promise<void> {
  await db.query('delete from known_client where at < $1', [new Date(now.getTime() - KEPT_MS)])
}

/** There are few addresses, so a plain hash of one is soon reversed: this one needs the server secret. */
const hashClient = ({ config }: Services, client: string) =>
  createHmac('sha256', config.serverSecret!).update(`client\n${client}`).digest()
