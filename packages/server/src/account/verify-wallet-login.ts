import type { Hex } from 'viem'
import { ChainUnavailableError } from '../chain/chain-port.ts'
import { walletThatSigned } from '../chain/wallet-that-signed.ts'
import { type Handler, preparedHandler } from '../dispatch/handler.ts'
import { sha256 } from '../platform/sealer.ts'
import { accountById } from './account-store.ts'
import { openSession } from './open-session.ts'
import { walletAccounts } from './wallet-accounts.ts'
import { readWalletMessage } from './wallet-message.ts'
import { useMessage } from './wallet-store.ts'

const REFUSED = 'The message is not one of this service, is over, was used, or is not signed by its wallet'

export const verifyWalletLogin: Handler<'verifyWalletLogin'> = preparedHandler(
  async ({ input, services, fail }) => {
    const message = readWalletMessage(services, input.message)
    if (!message || message.expiresAt <= services.clock.now()) throw fail('invalid_wallet_login', REFUSED)
    const chain = services.chains.find(({ settings }) => settings.chainId === message.chainId)
    if (!chain) throw fail('invalid_wallet_login', REFUSED)
    try {
      const wallet = await walletThatSigned(chain, {
        address: message.address,
        message: input.message,
        signature: input.signature as Hex,
      })
      if (!wallet) throw fail('invalid_wallet_login', REFUSED)
      return { message, wallet }
    } catch (error) {
      if (!(error instanceof ChainUnavailableError)) throw error
      throw fail('chain_unavailable', 'The chain does not say whose signature this is', { retryAfter: 10 })
    }
  },
  async ({ client, db, services, fail }, { message, wallet }) => {
    const { expiresAt, nonce } = message
    const now = services.clock.now()
    if (expiresAt <= now || !(await useMessage(db, { nonceHash: sha256(nonce), expiresAt, now })))
      throw fail('invalid_wallet_login', REFUSED)
    const accountId = await walletAccounts.ensure(db, services, wallet)
    return openSession(db, services, await accountById(db, accountId), client, { isProven: true })
  },
)
