import type { PaymentRequired, PaymentRequirements } from '@x402/core/types'
import { getAddress } from 'viem'
import type { Chain } from '../../chain/chain-port.ts'
import type { Network, TokenSymbol } from '../../chain/chain-settings.ts'

/** The seconds for which an authorization is valid: enough to send it again while a chain is busy. */
const HOLDS_S = 300

/** One way to pay: the requirements as x402 expresses them, and the chain that they name. */
export interface PaymentTerms {
  chain: Chain
  requirements: PaymentRequirements
}

/**
 * The ways to pay an amount by x402: scheme `exact`, by EIP-3009, on networks whose gas wallet is not known to be empty.
 * @param amount micro-USD, which is also the tokens' smallest unit
 * @param only limits the terms to this network and token
 * @param extra is part of each of the terms, and comes back with the payment
 */
export const paymentTerms = (
  chains: Chain[],
  payTo: string,
  amount: bigint,
  only: { network?: Network; token?: TokenSymbol },
  extra: Record<string, unknown> = {},
): PaymentTerms[] =>
  chains
    .filter(({ settings }) => only.network === undefined || settings.network === only.network)
    .filter(({ settlementsLeft }) => settlementsLeft !== 0)
    .flatMap((chain) =>
      chain.settings.tokens.flatMap(({ symbol, address }) => {
        const domain = chain.gasWallet?.domains.get(address.toLowerCase())
        if (!domain || (only.token !== undefined && symbol !== only.token)) return []
        const requirements: PaymentRequirements = {
          scheme: 'exact',
          network: `eip155:${chain.settings.chainId}`,
          asset: getAddress(address),
          amount: String(amount),
          payTo: getAddress(payTo),
          maxTimeoutSeconds: HOLDS_S,
          extra: { ...domain, ...extra },
        }
        return [{ chain, requirements }]
      }),
    )

/**
 * The body of a 402 for a client that has to pay, or to pay differently.
 * @param sold the goods: their URL and description
 */
export const paymentRequired = (
  terms: PaymentTerms[],
  error: string,
  sold: { url: string; description: string },
): PaymentRequired => ({
  x402Version: 2,
  error,
  resource: { ...sold, mimeType: 'application/json' },
  accepts: terms.map(({ requirements }) => requirements),
})
