import type { Hex } from 'viem'
import type { Authorization } from '../../chain/gas-wallet.ts'
import type { Transaction } from '../../database/transaction.ts'
import type { Services } from '../../services.ts'
import { createTopupInvoice } from '../create-invoice.ts'
import { unpaidTopup } from '../invoice-store.ts'
import type { PaymentKey, X402Payment } from './payment-store.ts'

/** Nobody waits longer for an authorization that holds for ever. */
const LONGEST_MS = 30 * 86_400_000

/** What is written down of a signed transfer. */
export const paymentKey = (chainId: number, { token, from, nonce }: Authorization): PaymentKey => ({
  chain_id: chainId,
  token_address: lower(token),
  payer: lower(from),
  nonce: lower(nonce),
})

const lower = (text: Hex) => text.toLowerCase() as Hex

/** @param validBefore Unix seconds, up to 256 bits */
export function endOf({ clock }: Services, { validBefore }: { validBefore: bigint }): Date {
  const latest = clock.now().getTime() + LONGEST_MS
  return new Date(validBefore * 1000n < BigInt(latest) ? Number(validBefore) * 1000 : latest)
}

/** The top-up that a payment is for: the open one, or else one of its own. */
export async function invoiceOf(
  tx: Transaction,
  services: Services,
  accountId: string,
  amount: bigint,
): Promise<Pick<X402Payment, 'invoice_id' | 'own_invoice'>> {
  const own = await createTopupInvoice(tx, services, { accountId, amount, network: null, token: null })
  const invoice = own ?? (await unpaidTopup(tx, accountId))
  if (!invoice) throw new Error('The top-up that was in the way is closed meanwhile')
  return { invoice_id: invoice.id, own_invoice: own !== undefined }
}
