import type { Network } from '../chain/chain-settings.ts'
import type { Deposit } from './deposit-store.ts'
import type { Invoice } from './invoice-store.ts'

/**
 * The text of a credited deposit on the statement: its transaction, its invoice and, when that invoice was closed
 * already, why the money is on the balance.
 */
export function describeDeposit(
  { token, tx_hash }: Pick<Deposit, 'token' | 'tx_hash'>,
  network: Network,
  invoice: Pick<Invoice, 'id' | 'status' | 'kind'> | undefined,
): string {
  const came = `${token} received on ${network}, transaction ${tx_hash}`
  if (!invoice) return came
  const late: Partial<Record<Invoice['status'], string>> = {
    paid: 'which was paid already',
    settled_to_balance: 'which was settled to the balance before',
    expired: 'which had expired',
    cancelled: 'which was cancelled',
  }
  const closed = late[invoice.status]
  const { id } = invoice
  if (!closed) return `${came}, for invoice ${id}`
  const unused = invoice.kind === 'topup' ? '' : ': it is on the balance, and nothing was ordered with it'
  return `${came}, for invoice ${id}, ${closed}${unused}`
}
