import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Chain } from '../../chain/chain-port.ts'
import type { AuthorizedTransfer } from '../../chain/gas-wallet.ts'
import type { Services } from '../../platform/services.ts'
import { PaymentRefused } from './payment-refused.ts'

/** Refusals by the reasons that the x402 library gives, where a reason is specific enough. */
const refusals: Record<string, [ConstructorParameters<typeof PaymentRefused>[0], string]> = {
  invalid_exact_evm_signature: ['payment_signature_invalid', 'The signature is not of "from"'],
  eip6492_factory_not_allowed: [
    'payment_signature_invalid',
    'The signature is of a contract that is not deployed',
  ],
  invalid_exact_evm_payload_authorization_valid_before: ['payment_expired', 'The authorization is over'],
  invalid_exact_evm_payload_authorization_valid_after: [
    'payment_not_yet_valid',
    'The authorization begins in the future',
  ],
}

/**
 * Asks the chain whether it would take a payment now.
 * @throws PaymentRefused with the reason
 */
export async function checkPayment(
  { log }: Services,
  chain: Chain,
  transfer: AuthorizedTransfer,
): Promise<void> {
  const wallet = chain.gasWallet!
  try {
    // Asked first, because the verification would report a node that does not answer as a wrong signature.
    const { isUsed, balance } = await wallet.payerOf(transfer)
    const reason = await wallet.verify(transfer)
    if (reason === undefined) return
    const known = refusals[reason]
    if (known) throw new PaymentRefused(...known)
    if (isUsed) throw new PaymentRefused('payment_nonce_used', 'The nonce was used, or cancelled')
    if (balance < transfer.value) {
      const message = `${transfer.from} has ${formatUsd(balance)} of ${formatUsd(transfer.value)}`
      throw new PaymentRefused('payment_insufficient_funds', message)
    }
    log.warn({ reason, token: transfer.token }, 'A token refuses a payment by x402')
    throw new PaymentRefused('payment_failed', 'The token refuses the transfer')
  } catch (error) {
    if (error instanceof PaymentRefused) throw error
    log.error({ err: error }, 'A payment by x402 could not be checked')
    throw new PaymentRefused('settlement_unavailable', 'The chain does not answer')
  }
}
