import type { Hex } from 'viem'
import { type Chain, ChainUnavailableError } from './chain-port.ts'
import type { ChainSettings } from './chain-settings.ts'
import { checkChain } from './check-chain.ts'
import { openGasWallet } from './gas-wallet.ts'
import { viemChain } from './viem-chain.ts'

/**
 * Opens a chain and verifies its settings before it takes money. When none of its endpoints answers now, it is opened
 * nevertheless, since a restarted service has machines and other chains to look after. Its settings are then verified
 * later; see `Chain.prove`.
 * @param x402Key the key of the gas wallet; without it there are no payments by signature
 * @throws ChainSettingsError when the settings do not hold
 */
export async function openChain(settings: ChainSettings, x402Key: Hex | undefined): Promise<Chain> {
  const chain: Chain = { settings, port: viemChain(settings) }
  const prove = async () => {
    // The service itself made the local chains of the demo.
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
