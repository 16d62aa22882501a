import { ChainUnavailableError } from '../chain/chain-port.ts'
import { type Handler, preparedHandler } from '../dispatch/handler.ts'
import { openSession } from './open-session.ts'
import { proveByWallet, readSignedMessage } from './proving/prove-person.ts'

export const verifyWalletLogin: Handler<'verifyWalletLogin'> = preparedHandler(
  async ({ input, services, fail }) => {
    try {
      return await readSignedMessage(services, { text: input.message, signature: input.signature })
    } catch (error) {
      if (!(error instanceof ChainUnavailableError)) throw error
      throw fail('chain_unavailable', 'The chain does not say whose signature this is', { retryAfter: 10 })
    }
  },
  async ({ client, db, services }, signed) =>
    openSession(db, services, await proveByWallet(db, services, signed), client, { isProven: true }),
)
