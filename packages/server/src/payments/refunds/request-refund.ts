import type { Operations } from '@coinrack/contract/index.ts'
import type { Input } from '@coinrack/contract/operation.ts'
import { formatUsd } from '@coinrack/contract/wire.ts'
import { isAddressEqual, zeroAddress } from 'viem'
import { forwarderFactoryAddress } from '../../chain/forwarder-factory.ts'
import { type Handler, preparedHandler } from '../../dispatch/handler.ts'
import { lockBalance } from '../../ledger/balance.ts'
import { placeHold } from '../../ledger/hold.ts'
import { findPayee } from './find-payee.ts'
import { SIGNED_MS } from './get-refund-terms.ts'
import { notifyRefund } from './notify-refund.ts'
import { earlierRefund, insertRefund, refundById, refundView } from './refund-store.ts'
import { isSigned } from './refund-typed-data.ts'
import { refundableOf } from './refundable.ts'
import { refuseExampleWallet } from './refuse-example-wallet.ts'

const LEAST = 1_000_000n
/** How long ago the caller may have proven the mailbox. */
const PROVEN_MS = 600_000
/** How long the owner can cancel the refund before the operator can approve it. */
const CANCEL_MS = 24 * 3_600_000
type Hex = `0x${string}`

/** Next steps that lead to terms which can be signed. */
const termsFor = ({ amount, network, token, address }: Input<Operations['requestRefund']>) => ({
  nextSteps: [
    {
      tool: 'get_refund_terms',
      why: 'Get what to sign',
      arguments: { amount: formatUsd(amount), network, token, address },
    },
  ],
})

export const requestRefund: Handler<'requestRefund'> = preparedHandler(
  async ({ input, caller, db, services, fail }) => {
    const now = services.clock.now()
    if (caller.lineage.length > 1) throw fail('child_token', 'A child token cannot ask for a refund')
    if (!caller.provenAt || now.getTime() - caller.provenAt.getTime() > PROVEN_MS)
      throw fail('proof_too_old', 'The mailbox was not proven by a code within the last 10 minutes')
    if (input.amount < LEAST) {
      const message = `Expected at least ${formatUsd(LEAST)} USD`
      throw fail('invalid_input', `amount: ${message}`, {
        fields: { details: [{ path: 'amount', message }] },
      })
    }

    refuseExampleWallet(input.address, fail)
    const { network, token: symbol } = input
    const chain = services.chains.find(({ settings }) => settings.network === network)
    const token = chain?.settings.tokens.find((known) => known.symbol === symbol)
    if (!chain || !token) throw fail('refund_other_chain', `${symbol} on ${network} is not taken here`)
    const { settings } = chain
    const address = input.address.toLowerCase() as Hex
    const tokenAddress = token.address.toLowerCase() as Hex

    const ours = await db.query('select from deposit_address where address = $1', [address])
    const lost = [
      zeroAddress,
      settings.treasury,
      forwarderFactoryAddress(settings.treasury),
      ...settings.tokens.map((known) => known.address),
    ]
    if (ours.rowCount || lost.some((known) => isAddressEqual(known, address)))
      throw fail('refund_to_token', `${input.address} is a token's address, or one of this service`)
    const { hasCode, isRefused } = await findPayee(chain, tokenAddress, address)
    if (hasCode) throw fail('refund_to_contract', `${input.address} is a contract on ${network}`)
    if (isRefused)
      throw fail('refund_address_blocked', `${symbol} on ${network} refuses payments to ${input.address}`)

    const expiresAt = new Date(input.expires_at)
    if (expiresAt <= now)
      throw fail(
        'refund_signature_expired',
        `The signature was good until ${input.expires_at}`,
        termsFor(input),
      )
    const refund = {
      service: services.config.publicUrl,
      accountId: caller.accountId,
      chainId: settings.chainId,
      amount: input.amount,
      token: symbol,
      tokenAddress,
      address,
      expiresAt,
    }
    const isLate = expiresAt.getTime() - now.getTime() > SIGNED_MS
    if (isLate || !(await isSigned(refund, input.signature as Hex)))
      throw fail(
        'refund_signature_invalid',
        `The key of ${input.address} did not sign this refund`,
        termsFor(input),
      )
    return { address, tokenAddress, chainId: settings.chainId }
  },
  async ({ input, caller, db, services, fail }, { address, tokenAddress, chainId }) => {
    const now = services.clock.now()
    const { accountId } = caller
    const { owed } = await lockBalance(db, accountId)
    if (owed > 0n) throw fail('account_owes', `The account owes ${formatUsd(owed)} USD`)
    const signature = input.signature.toLowerCase()
    const earlier = await earlierRefund(db, accountId, signature)
    if (earlier.open)
      throw fail('refund_open', `Refund ${earlier.open} is not closed yet`, {
        nextSteps: [{ tool: 'get_refund', why: 'See how far it is', arguments: { refund_id: earlier.open } }],
      })
    if (earlier.isUsed)
      throw fail('refund_repeated', 'A refund was asked for with this signature before', termsFor(input))

    const refundable = await refundableOf(db, accountId)
    const { network, token, amount } = input
    const here = refundable.find((one) => one.network === network && one.token === token)
    if (!here)
      throw fail('refund_other_chain', `This account has received no final payment in ${token} on ${network}`)
    if (amount > here.amount)
      throw fail(
        'refund_too_much',
        `${formatUsd(here.amount)} USD can be refunded in ${token} on ${network}`,
        termsFor({ ...input, amount: here.amount }),
      )

    const id = services.newId('refund')
    const holdId = services.newId('hold')
    await placeHold(db, {
      id: holdId,
      transactionId: services.newId('transaction'),
      accountId,
      amount,
      purpose: `refund:${id}`,
      description: `Refund ${id} to ${address} on ${network}: held until it is paid, cancelled or rejected`,
      at: now,
    })
    await insertRefund(db, {
      id,
      account_id: accountId,
      chain_id: chainId,
      token,
      token_address: tokenAddress,
      address,
      amount,
      signature,
      hold_id: holdId,
      cancel_until: new Date(now.getTime() + CANCEL_MS),
      created_at: now,
    })
    const row = await refundById(db, id)
    await notifyRefund(db, services, row, 'requested')
    return refundView(row)
  },
)
