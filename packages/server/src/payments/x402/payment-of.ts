import type { Hex } from 'viem'
import type { Authorization } from '../../chain/gas-wallet.ts'
import type { Transaction } from '../../database/transaction.ts'
import type { Services } from '../../platform/services.ts'
import { createTopupInvoice } from '../create-invoice.ts'
import { unpaidTopup } from '../invoice-store.ts'
import type { PaymentKey, Wish, X402Payment } from './payment-store.ts'

/** The longest that an authorization counts as valid, even one that never expires. */
const LONGEST_MS = 30 * 86_400_000

/** The key under which a signed transfer is stored. */
export const paymentKey = (chainId: number, { token, from, nonce }: Authorization): PaymentKey => ({
  chain_id: chainId,
  token_address: lower(token),
  payer: lower(from),
  nonce: lower(nonce),
})

const lower = (text: Hex) => text.toLowerCase() as Hex

/**
 * When an authorization ends, at most `LONGEST_MS` from now.
 * @param validBefore Unix seconds, up to 256 bits
 */
export function endOf({ clock }: Services, { validBefore }: { validBefore: bigint }): Date {
  const latest = clock.now().getTime() + LONGEST_MS
  return new Date(validBefore * 1000n < BigInt(latest) ? Number(validBefore) * 1000 : latest)
}

/** The invoice that a payment is for: the wanted one, else a new top-up, or the open one when there is one already. */
export async function invoiceOf(
  tx: Transaction,
  services: Services,
  { accountId, invoiceId }: Omit<Wish, 'keyHash'>,
  amount: bigint,
): Promise<Pick<X402Payment, 'invoice_id' | 'own_invoice'>> {
  if (invoiceId !== undefined) return { invoice_id: invoiceId, own_invoice: false }
  const own = await createTopupInvoice(tx, services, { accountId, amount, network: null, token: null })
  const invoice = own ?? (await unpaidTopup(tx, accountId))
  if (!invoice) throw new Error('The top-up that was in the way is closed meanwhile')
  return { invoice_id: invoice.id, own_invoice: own !== undefined }
}
