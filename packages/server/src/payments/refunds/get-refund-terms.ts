import type { Address } from 'viem'
import type { Handler } from '../../dispatch/handler.ts'
import { refundTypedData } from './refund-typed-data.ts'
import { refundableOf } from './refundable.ts'
import { refuseExampleWallet } from './refuse-example-wallet.ts'

/** How long a signature is valid. */
export const SIGNED_MS = 30 * 60_000

export const getRefundTerms: Handler<'getRefundTerms'> = async ({ input, caller, db, services, fail }) => {
  refuseExampleWallet(input.address, fail)
  const chain = services.chains.find(({ settings }) => settings.network === input.network)
  const token = chain?.settings.tokens.find(({ symbol }) => symbol === input.token)
  if (!chain || !token) {
    const message = `${input.token} on ${input.network} is not taken here`
    throw fail('invalid_input', message, { fields: { details: [{ path: 'network', message }] } })
  }
  const expiresAt = new Date(services.clock.now().getTime() + SIGNED_MS)
  return {
    refundable: await refundableOf(db, caller.accountId),
    typed_data: refundTypedData({
      service: services.config.publicUrl,
      accountId: caller.accountId,
      chainId: chain.settings.chainId,
      amount: input.amount,
      token: input.token,
      tokenAddress: token.address,
      address: input.address.toLowerCase() as Address,
      expiresAt,
    }),
    expires_at: expiresAt,
  }
}
