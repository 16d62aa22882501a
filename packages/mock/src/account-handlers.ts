import { formatUsd } from '@coinrack/contract/wire.ts'
import { type Handlers, waitUntil } from './handler.ts'
import { invoiceFields, makeInvoice } from './money.ts'
import { Refusal } from './refusal.ts'
import type { Account } from './state.ts'

const YEAR_MS = 365 * 86_400_000

const accountView = ({ id, email, createdAt }: Account) => ({
  ...{ id, email, first_name: null, last_name: null, has_password: false, email_verified: false },
  created_at: createdAt,
})

const newestFirst = <T extends { created_at: Date; id: string }>(items: T[]) =>
  items.sort((a, b) => b.created_at.getTime() - a.created_at.getTime() || (a.id < b.id ? 1 : -1))

const mine = <T>(things: Map<string, { accountId: string; view: T }>, { id }: Account): T[] =>
  [...things.values()].filter(({ accountId }) => accountId === id).map(({ view }) => view)

/** Account, catalog, balance and invoices. */
export const accountHandlers: Handlers = {
  registerAccount({ input, state }) {
    if ([...state.accounts.values()].some(({ email }) => email === input.email))
      throw new Refusal('email_taken', `There is an account of ${input.email}`)
    const token = `crk_mock${state.accounts.size + 1}`
    const account = state.account(input.email, token)
    const token_expires_at = new Date(state.now().getTime() + YEAR_MS)
    return { token, token_type: 'Bearer', token_expires_at, account: accountView(account) }
  },
  listPlans: ({ plans }) => plans,
  getBalance: ({ account, state }) => ({
    ...state.runway(account),
    ...{ held: account.held, total: account.available + account.held, owed: 0n, currency: 'USD' },
  }),
  listTransactions: ({ account }) => [...account.lines].reverse(),
  topupBalance({ input, account, state }) {
    const open = mine(state.invoices, account).find(
      ({ kind, status }) => kind === 'topup' && status === 'unpaid',
    )
    if (open) throw pending(open)
    const { view } = makeInvoice(state, account, { kind: 'topup', amount: input.amount })
    return { invoice: view, checkout_url: view.checkout_url }
  },
  listInvoices: ({ input, account, state }) =>
    newestFirst(mine(state.invoices, account)).filter(
      ({ status }) => input.status === undefined || status === input.status,
    ),
  getInvoice({ input, state }) {
    const { view } = state.invoices.get(input.invoice_id)!
    if (input.wait) waitUntil(state, input.timeout, () => isClosed(view.status))
    return view
  },
  cancelInvoice({ input, state }) {
    const { view } = state.invoices.get(input.invoice_id)!
    if (view.status === 'paid') throw new Refusal('invoice_closed', `The invoice ${view.id} is paid`)
    Object.assign(view, { status: 'cancelled', payment_options: [] })
    const order = view.order_id === null ? undefined : state.orders.get(view.order_id)
    if (order) order.view.status = 'cancelled'
    return view
  },
}

const isClosed = (status: string) => status !== 'unpaid' && status !== 'confirming'

function pending(invoice: ReturnType<typeof makeInvoice>['view']): Refusal {
  const message = `The top-up ${invoice.id} of ${formatUsd(invoice.amount)} USD is not paid yet`
  return new Refusal('topup_pending', message, invoiceFields(invoice))
}

export { mine, newestFirst }
