import { getAddress } from 'viem'
import type { Handler } from '../dispatch/handler.ts'
import { makeWalletMessage } from './wallet-message.ts'

export const requestWalletChallenge: Handler<'requestWalletChallenge'> = async ({
  input,
  services,
  fail,
}) => {
  const chainIds = services.chains.map(({ settings }) => settings.chainId)
  const chainId = input.chain_id ?? chainIds[0]
  if (chainId === undefined || !chainIds.includes(chainId))
    throw fail('unknown_chain', `This service takes no money on chain ${chainId}`)
  // Its checksum is not looked at: that is what the wallet shows.
  const { message, expiresAt } = makeWalletMessage(services, getAddress(input.address.toLowerCase()), chainId)
  return { message, expires_at: expiresAt }
}
