import { treasuryAccount } from '@coinrack/money/index.ts'
import type { Hash } from 'viem'
import type { TransferReceipt } from '../chain/chain-port.ts'
import type { ChainSettings } from '../chain/chain-settings.ts'
import { viemChain } from '../chain/viem-chain.ts'
import { inTransaction } from '../database/transaction.ts'
import { lockBalance } from '../ledger/balance.ts'
import { payOutHold } from '../ledger/hold.ts'
import { notifyRefund } from '../payments/refunds/notify-refund.ts'
import {
  lockRefund,
  markRefundSent,
  networkOf,
  paidByTransaction,
  type RefundRow,
  refundById,
} from '../payments/refunds/refund-store.ts'
import { type Command, RefusedError } from './command.ts'
import { chainNamed } from './treasury/chain-named.ts'

export const refundSent: Command = {
  name: 'refund sent',
  arguments: '<id> <transaction hash>',
  summary:
    'Closes an approved refund by the transaction that paid it, once the chain shows it in a final block',
  takes: 2,
  async run(operator, [id, written]) {
    const db = await operator.db()
    const asked = await refundById(db, id!)
    if (!asked) throw new RefusedError(`There is no refund ${id}`)
    if (!/^0x[0-9a-fA-F]{64}$/.test(written!)) throw new RefusedError(`${written} is not a transaction hash`)
    const txHash = written!.toLowerCase() as Hash
    const settings = await chainNamed(operator, networkOf(asked.chain_id))
    const paid = await countPaid(settings, asked, txHash)

    await inTransaction(db, async (tx) => {
      await lockBalance(tx, asked.account_id)
      const refund = (await lockRefund(tx, asked.id))!
      if (refund.status !== 'approved')
        throw new RefusedError(
          refund.status === 'requested' ? `${id} is not approved yet` : `${id} is ${refund.status} already`,
        )
      const ordinal = await paidByTransaction(tx, refund, txHash)
      if (ordinal >= paid)
        throw new RefusedError(
          ordinal > 0
            ? `What ${txHash} paid to ${refund.address} has closed another refund already`
            : `${txHash} did not pay exactly this amount of ${refund.token} from the treasury to ${refund.address}`,
        )
      const at = operator.clock.now()
      await payOutHold(tx, {
        holdId: refund.hold_id,
        transactionId: operator.newId('transaction'),
        description: `Refund ${refund.id} to ${refund.address} on ${settings.network}, transaction ${txHash}`,
        from: treasuryAccount(refund.chain_id, refund.token),
        at,
      })
      await markRefundSent(tx, refund.id, { txHash, ordinal, at })
      await notifyRefund(tx, operator, await refundById(tx, refund.id), 'sent')
    })
    return { json: { id, status: 'sent', tx_hash: txHash }, text: `${id} is paid` }
  },
}

/** How often a transaction paid exactly this from the treasury, as two endpoints show it in a final block. */
async function countPaid(settings: ChainSettings, refund: RefundRow, txHash: Hash): Promise<number> {
  const port = viemChain(settings)
  const treasury = settings.treasury.toLowerCase()
  const countIn = (receipt: TransferReceipt | undefined) =>
    receipt?.succeeded
      ? receipt.transfers.filter(
          ({ token, from, to, value }) =>
            token === refund.token_address &&
            from === treasury &&
            to === refund.address &&
            value === refund.amount,
        ).length
      : 0
  const final = await port.promised('finalized')
  const answers = (await port.askAll((node) => node.receipt(txHash))).flatMap((given) =>
    given ? [given.answer] : [],
  )
  const enough = Math.min(2, settings.rpcUrls.length)
  const isFinal = (receipt: TransferReceipt | undefined) =>
    receipt !== undefined && final !== undefined && receipt.block.number <= final
  if (answers.filter(isFinal).length < enough)
    throw new RefusedError(
      `${txHash} is in no final block of ${settings.network} yet, as far as two endpoints say`,
    )
  return Math.min(...answers.filter(isFinal).map(countIn))
}
