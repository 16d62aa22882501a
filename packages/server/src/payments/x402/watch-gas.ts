import type { Chain } from '../../chain/chain-port.ts'
import type { Services } from '../../platform/services.ts'

/** With fewer settlements left than this, the operator should refill the wallet. */
const FEW = 50

/**
 * Reads how many settlements the gas wallet of a chain can still pay for. A network with an empty wallet is not offered
 * for payments by signature: a customer who signed one there would be refused, and would have to sign another.
 */
export function gasWatcher({ log }: Services, chain: Chain): () => Promise<void> {
  let isLow = false
  return async () => {
    const wallet = chain.gasWallet
    if (!wallet) return
    const left = await wallet.settlementsLeft()
    chain.settlementsLeft = left
    if (left < FEW === isLow) return
    isLow = left < FEW
    const about = { network: chain.settings.network, wallet: wallet.address, settlementsLeft: left }
    if (isLow)
      log.error(about, 'The gas wallet runs low: fill it up, or payments by signature end on this network')
    else log.info(about, 'The gas wallet is filled up')
  }
}
