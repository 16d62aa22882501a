import { getAddress } from 'viem'
import type { Handler } from '../dispatch/handler.ts'
import { copiedExample, isExampleWallet } from '../platform/documentation-examples.ts'
import { makeWalletMessage } from './wallet-message.ts'

export const requestWalletChallenge: Handler<'requestWalletChallenge'> = async ({
  input,
  services,
  fail,
}) => {
  if (isExampleWallet(input.address)) {
    const message = copiedExample('the address', 'that of your wallet')
    throw fail('invalid_input', `address: ${message}`, {
      fields: { details: [{ path: 'address', message }] },
    })
  }
  const chainIds = services.chains.map(({ settings }) => settings.chainId)
  const chainId = input.chain_id ?? chainIds[0]
  if (chainId === undefined || !chainIds.includes(chainId))
    throw fail('unknown_chain', `This service takes no money on chain ${chainId}`)
  // Its checksum is not looked at: that is what the wallet shows.
  const { message, expiresAt } = makeWalletMessage(services, getAddress(input.address.toLowerCase()), chainId)
  return { message, expires_at: expiresAt }
}
