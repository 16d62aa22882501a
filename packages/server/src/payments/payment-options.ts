import { type Address, getAddress } from 'viem'
import type { ChainSettings, Network, TokenSymbol } from '../chain/chain-settings.ts'
import type { Services } from '../platform/services.ts'

/** One way to pay: this token, on this network, to this address. */
export interface PaymentOption {
  network: Network
  chain_id: number
  token: TokenSymbol
  token_address: Address
  decimals: number
  address: Address
  /** micro-USD */
  amount: bigint
  amount_atomic: string
  uri: string
}

/** The chains that customers may pay on: all but those whose settings are not verified yet. */
export const offeredChains = ({ chains }: Services): ChainSettings[] =>
  chains.filter(({ prove }) => prove === undefined).map(({ settings }) => settings)

/**
 * The ways to pay an amount at a deposit address.
 * @param only limits the options to this network and token; null is no limit
 */
export function paymentOptions(
  chains: ChainSettings[],
  to: string,
  amount: bigint,
  only: { network: Network | null; token: TokenSymbol | null },
): PaymentOption[] {
  const address = getAddress(to)
  return chains
    .filter((chain) => only.network === null || chain.network === only.network)
    .flatMap((chain) =>
      chain.tokens
        .filter((token) => only.token === null || token.symbol === only.token)
        .map((token) => ({
          network: chain.network,
          chain_id: chain.chainId,
          token: token.symbol,
          token_address: getAddress(token.address),
          decimals: token.decimals,
          address,
          amount,
          // The tokens have six decimals, as micro-USD do.
          amount_atomic: String(amount),
          uri: transferUri(chain.chainId, getAddress(token.address), address, amount),
        })),
    )
}

/** The URI that a wallet opens to make the transfer (EIP-681). */
const transferUri = (chainId: number, token: Address, to: Address, atomic: bigint) =>
  `ethereum:${token}@${chainId}/transfer?address=${to}&uint256=${atomic}`
