import { Invoice as InvoiceShape, networks } from '@coinrack/contract/invoices.ts'
import { formatUsd } from '@coinrack/contract/wire.ts'
import { z } from 'zod'
import type { Account, Invoice, MockInvoice, State } from './state.ts'

const DAY_MS = 86_400_000
/** USDC on Base, as a service of the default settings offers it. */
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

/** Makes an invoice that is paid by a transfer. */
export function makeInvoice(
  state: State,
  account: Account,
  { kind, amount, order_id = null }: Pick<Invoice, 'kind' | 'amount'> & { order_id?: string | null },
): MockInvoice {
  const id = state.id('invoice')
  const address = `0x${[...id]
    .map((letter) => (letter.charCodeAt(0) % 16).toString(16))
    .join('')
    .padEnd(40, '0')
    .slice(0, 40)}`
  const view: Invoice = {
    ...{ id, kind, status: 'unpaid', amount, received: 0n, currency: 'USD', order_id, service_id: null },
    ...{ closed_reason: null, checkout_url: `${state.url}/checkout/${id}`, created_at: state.now() },
    ...{ expires_at: new Date(state.now().getTime() + DAY_MS), paid_at: null, payments: [] },
    payment_options: [
      {
        ...{ network: networks[0], chain_id: 8453, token: 'USDC', token_address: USDC, decimals: 6, address },
        ...{ amount, amount_atomic: String(amount) },
        uri: `ethereum:${USDC}@8453/transfer?address=${address}&uint256=${amount}`,
      },
    ],
  }
  const invoice = { accountId: account.id, view }
  state.invoices.set(id, invoice)
  return invoice
}

/** The payment arrives and is credited. */
export function payInvoice(state: State, { view, accountId }: MockInvoice): void {
  const account = state.accounts.get(accountId)!
  const { id, amount } = view
  const [{ network, token }] = view.payment_options as [Invoice['payment_options'][number]]
  const tx_hash = `0x${id.length.toString(16).padStart(64, '0')}`
  state.post(account, {
    ...{ kind: 'deposit', description: `${formatUsd(amount)} ${token} on ${network}` },
    ...{ amount, held_change: 0n, reference: tx_hash },
  })
  Object.assign(view, { status: 'paid', received: amount, paid_at: state.now(), payment_options: [] })
  view.payments = [
    {
      ...{ network, token, tx_hash, log_index: 0, amount, confirmations: 12 },
      required: '12',
      status: 'credited',
    },
  ]
}

/** An invoice as a refusal has it, on the wire. */
export const invoiceFields = (view: Invoice) => ({
  invoice: z.encode(InvoiceShape, view),
  checkout_url: view.checkout_url,
})
