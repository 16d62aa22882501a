import type { Transaction } from '../database/transaction.ts'
import { type CustomerBalance, lockBalance } from '../ledger/balance.ts'
import type { Services } from '../platform/services.ts'
import { renewedBy } from './invoice-store.ts'

/**
 * Locks what a payment may change, in the same order as billing: the service that the invoice renews, then the balance.
 */
export async function lockPayment(
  tx: Transaction,
  services: Services,
  { accountId, invoiceId }: { accountId: string; invoiceId: string | null },
): Promise<CustomerBalance> {
  const serviceId = invoiceId === null ? undefined : await renewedBy(tx, invoiceId)
  if (serviceId !== undefined) await services.ordering.lockService(tx, serviceId)
  return lockBalance(tx, accountId)
}
