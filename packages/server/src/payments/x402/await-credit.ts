import type { UntilReached } from '../../dispatch/handler.ts'
import type { Services } from '../../platform/services.ts'
import { type Deposit, depositById } from '../deposit-store.ts'
import { creditNow } from './credit-payment.ts'
import type { X402Payment } from './payment-store.ts'

/** How long an answer waits for the credit of a payment after its block: both waits take less than 50 s together. */
const CREDIT_S = 25

/**
 * Credits a settled payment, or waits until the policy of its chain allows it.
 * @returns the current deposit; undefined while the chain does not show it
 */
export async function awaitCredit(
  services: Services,
  payment: X402Payment,
  until: UntilReached,
): Promise<Deposit | undefined> {
  const deposit = await creditNow(services, payment)
  if (deposit?.status !== 'seen') return deposit
  const read = () => depositById(services.db, deposit.id)
  return until(payment.account_id, CREDIT_S, read, (now) => now?.status !== 'seen')
}
