import type { Hex } from 'viem'
import { type Chain, ChainUnavailableError } from './chain-port.ts'
import type { ChainSettings } from './chain-settings.ts'
import { checkChain } from './check-chain.ts'
import { openGasWallet } from './gas-wallet.ts'
import { viemChain } from './viem-chain.ts'

/**
 * Opens a chain, so that its settings are proven before it takes money. When none of its endpoints answers now, it is
 * opened all the same: a service that is started again has machines to look after, and other chains. It proves itself
 * later then; see `Chain.prove`.
 * @param x402Key of the gas wallet; no payments by signature without it
 * @throws ChainSettingsError when the settings do not hold
 */
export async function openChain(settings: ChainSettings, x402Key: Hex | undefined): Promise<Chain> {
  const chain: Chain = { settings, port: viemChain(settings) }
  const prove = async () => {
    // The local chains of the demo were made by the service itself.
    if (!settings.demo) await checkChain(settings)
    if (x402Key) chain.gasWallet = await openGasWallet(settings, x402Key)
  }
  try {
    await prove()
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) throw error
    chain.prove = async () => {
      await prove()
      delete chain.prove
    }
  }
  return chain
}
