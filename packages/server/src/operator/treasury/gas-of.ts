import { type Address, createPublicClient, fallback, type Hex, http } from 'viem'
import type { ChainSettings } from '../../chain/chain-settings.ts'

const TIMEOUT_MS = 20_000

/** The current gas costs on a chain, by the first endpoint that answers: only shown, nothing depends on them. */
export function gasOf({ rpcUrls }: ChainSettings) {
  const client = createPublicClient({
    transport: fallback(rpcUrls.map((url) => http(url, { timeout: TIMEOUT_MS }))),
  })
  return {
    /** Wei for one unit of gas. */
    price: () => client.getGasPrice(),
    estimate: ({ to, data }: { to: Address; data: Hex }) => client.estimateGas({ to, data }),
    /** @throws when it would fail */
    tryCall: (call: { from: Address; to: Address; data?: Hex; value?: bigint }) =>
      client.call({ account: call.from, to: call.to, data: call.data, value: call.value }),
  }
}
