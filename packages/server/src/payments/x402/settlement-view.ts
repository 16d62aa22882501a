import type { Settlement } from '@coinrack/contract/payment-shapes.ts'
import { formatUsd } from '@coinrack/contract/wire.ts'
import { getAddress } from 'viem'
import type { z } from 'zod'
import type { X402Payment } from './payment-store.ts'

/** A payment in the form of an x402 settlement. */
export const settlementOf = (payment: X402Payment): z.output<typeof Settlement> => ({
  ...(payment.status === 'settled'
    ? { success: true }
    : { success: false, errorReason: 'settlement_pending' }),
  transaction: payment.tx_hash,
  network: `eip155:${payment.chain_id}`,
  payer: getAddress(payment.payer),
  amount: String(payment.amount),
})

/** The fields of an answer that describe a payment. */
export const paymentTold = ({ chain_id, tx_hash, payer, amount, invoice_id }: X402Payment) => ({
  invoice_id,
  payment: {
    network: `eip155:${chain_id}`,
    transaction: tx_hash,
    payer: getAddress(payer),
    amount: formatUsd(amount),
  },
})
