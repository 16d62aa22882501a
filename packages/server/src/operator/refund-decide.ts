import { type Address, encodeFunctionData, parseAbi } from 'viem'
import { inTransaction } from '../database/transaction.ts'
import { endRefund } from '../payments/refunds/end-refund.ts'
import { notifyRefund } from '../payments/refunds/notify-refund.ts'
import {
  approveRefundRow,
  lockRefund,
  networkOf,
  type RefundRow,
  refundById,
} from '../payments/refunds/refund-store.ts'
import { demandProvenBackup } from './backup/proven-backup.ts'
import { type Command, type Operator, RefusedError } from './command.ts'
import { chainNamed } from './treasury/chain-named.ts'
import { demandPayable } from './treasury/demand-payable.ts'
import { transactionJson, writeSafeBatch } from './treasury/prepared-transactions.ts'

const LONGEST_REASON = 200
const abi = parseAbi(['function transfer(address to, uint256 value)'])

export const refundApprove: Command = {
  name: 'refund approve',
  arguments: '<id> [--safe <file>]',
  summary:
    'Approves a refund that its owner can no longer take back, and prepares the transaction for the treasury; sends nothing',
  takes: 1,
  options: { safe: { type: 'string' } },
  async run(operator, [id], { safe }) {
    await demandProvenBackup(operator)
    const asked = await demandRefund(operator, id!)
    demandState(asked, operator.clock.now())
    const settings = await chainNamed(operator, networkOf(asked.chain_id))
    await demandPayable(settings, asked)

    const refund = await inTransaction(await operator.db(), async (tx) => {
      const locked = (await lockRefund(tx, asked.id))!
      demandState(locked, operator.clock.now())
      if (locked.status === 'requested') {
        await approveRefundRow(tx, locked.id)
        await notifyRefund(tx, operator, locked, 'approved')
      }
      return locked
    })
    const transaction = {
      chainId: refund.chain_id,
      to: refund.token_address as Address,
      data: encodeFunctionData({ abi, functionName: 'transfer', args: [refund.address, refund.amount] }),
      does: `Refund ${refund.id}`,
    }
    if (safe) await writeSafeBatch(safe, [transaction], transaction.does, operator.clock.now())
    return {
      json: { id: refund.id, status: 'approved', from: settings.treasury, ...transactionJson(transaction) },
      text: `Approved. Send this once from the treasury ${settings.treasury} on ${settings.network} (chain ${settings.chainId}):

to:    ${transaction.to}
value: 0
data:  ${transaction.data}

When its block is final: npm run operator -- refund sent ${refund.id} <transaction hash>`,
    }
  },
}

export const refundReject: Command = {
  name: 'refund reject',
  arguments: '<id> --reason <text>',
  summary: 'Rejects a refund: the amount is on the balance again; the customer reads the reason',
  takes: 1,
  options: { reason: { type: 'string' } },
  async run(operator, [id], { reason }) {
    if (!reason || reason.length > LONGEST_REASON)
      throw new RefusedError(`Say why with --reason, in at most ${LONGEST_REASON} characters`)
    await inTransaction(await operator.db(), async (tx) => {
      const refund = await lockRefund(tx, id!)
      if (!refund) throw new RefusedError(`There is no refund ${id}`)
      if (refund.status === 'approved')
        throw new RefusedError(
          `${id} is approved, so its transaction may be on its way already: it can no longer be rejected`,
        )
      if (refund.status !== 'requested') throw new RefusedError(`${id} is ${refund.status} already`)
      await endRefund(tx, operator, refund, { status: 'rejected', reason })
    })
    return { json: { id, status: 'rejected' }, text: `${id} is rejected` }
  },
}

async function demandRefund(operator: Operator, id: string): Promise<RefundRow> {
  const refund = await refundById(await operator.db(), id)
  if (!refund) throw new RefusedError(`There is no refund ${id}`)
  return refund
}

function demandState({ id, status, cancel_until }: RefundRow, now: Date): void {
  if (status !== 'requested' && status !== 'approved') throw new RefusedError(`${id} is ${status} already`)
  if (now < cancel_until)
    throw new RefusedError(
      `The customer can take ${id} back until ${cancel_until.toISOString()}: approve it then`,
    )
}
