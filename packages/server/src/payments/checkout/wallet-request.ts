import type { PaymentRequirements } from '@x402/core/types'
import { type Address, encodeFunctionData, erc20Abi, type Hex, zeroAddress } from 'viem'
import type { Network, TokenSymbol } from '../../chain/chain-settings.ts'
import { type WalletChain, walletChain } from '../../chain/wallet-chain.ts'
import type { Services } from '../../platform/services.ts'
import { toBePaid } from '../invoice-state.ts'
import type { Invoice } from '../invoice-store.ts'
import { offeredChains, paymentOptions } from '../payment-options.ts'
import { paymentTerms } from '../x402/payment-terms.ts'

/** All that a page needs to ask a wallet for a payment of the amount that is due now. */
export interface WalletRequest {
  token: TokenSymbol
  /** The amount in the smallest unit of the token. */
  amount: string
  chain: WalletChain
  /** The transfer, for a wallet that sends it. */
  transaction: { to: Address; data: Hex }
  /** The terms to sign when the service sends the transfer (x402); null when it does not. */
  gasless: PaymentRequirements | null
}

/** Whether a wallet can pay this token on this network by its signature alone. */
export const isGasless = ({ chains }: Services, choice: { network: Network; token: TokenSymbol }): boolean =>
  paymentTerms(chains, zeroAddress, 1n, choice).length > 0

/**
 * The payment of the amount that an invoice still lacks, by a wallet in a browser.
 * @returns undefined when the invoice cannot be paid this way now
 */
export function walletRequest(
  services: Services,
  invoice: Invoice,
  choice: { network: Network; token: TokenSymbol },
): WalletRequest | undefined {
  const missing = toBePaid(invoice)
  if (missing === 0n) return undefined
  const chains = offeredChains(services)
  const option = paymentOptions(chains, invoice.address, missing, invoice).find(
    ({ network, token }) => network === choice.network && token === choice.token,
  )
  if (!option) return undefined
  const { address, token, token_address, amount_atomic } = option
  const settings = chains.find(({ chainId }) => chainId === option.chain_id)!
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [address, missing] })
  const [terms] = paymentTerms(services.chains, invoice.address, missing, choice)
  return {
    token,
    amount: amount_atomic,
    chain: walletChain(settings),
    transaction: { to: token_address, data },
    gasless: terms?.requirements ?? null,
  }
}
