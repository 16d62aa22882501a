import { basePath, operations } from '@coinrack/contract/index.ts'
import { Invoice } from '@coinrack/contract/invoices.ts'
import { announce } from '../../database/changes.ts'
import type { Transaction } from '../../database/transaction.ts'
import { type Call, type CallToPrepare, type Handler, preparedHandler } from '../../dispatch/handler.ts'
import { hostImages } from '../../hosts/host-images.ts'
import { keepForInvoice } from '../../ledger/approval-store.ts'
import { checkAutoRenew, mayAutoRenew } from '../../ledger/auto-renew.ts'
import { lockBalance } from '../../ledger/balance.ts'
import { balanceNow } from '../../ledger/balance-view.ts'
import { checkBudget } from '../../ledger/budget.ts'
import { judgeBalance } from '../../ledger/judge-balance.ts'
import { OperationError, PAY_INVOICE, SIGN_OR_PAY_INVOICE } from '../../platform/errors.ts'
import { checkSshKey } from '../machine/check-ssh-key.ts'
import { newRootPassword } from '../machine/root-password.ts'
import { checkUserData, userDataPurpose } from '../machine/user-data.ts'
import { RECONCILE_VPS } from '../topics.ts'
import { type CatalogPlan, checkImage, checkPlan, checkPrice } from './check-order.ts'
import { demandRoom } from './find-room.ts'
import {
  countUnpaidOrders,
  findAwaitingOrder,
  insertOrder,
  type OrderRow,
  orderTotal,
  orderView,
  setOrderAutoRenew,
  setOrderInvoice,
} from './order-store.ts'
import { placedOrder } from './placed-order.ts'
import { makeQuote, readQuote } from './price-quote.ts'
import { spenderOf, startOrder } from './start-order.ts'

const AWAITING_MS = 24 * 3_600_000
/** Unpaid orders cost their account nothing, so it has few of them at a time, and not many in the life of one. */
const MOST_UNPAID = 5
const MOST_UNPAID_A_DAY = 20

type OrderCall = Call<'orderVps'>
type BeforeOrder = CallToPrepare<'orderVps'>

export const orderVps: Handler<'orderVps'> = preparedHandler(
  async (call) => {
    const { input, services } = call
    const plan = checkPlan(call)
    const quoted = atQuotedPrice(call, plan)
    return { plan: quoted, password: input.dry_run ? undefined : await newRootPassword(services.random) }
  },
  async (call, { plan, ...prepared }) => {
    const { input, caller, asked, db, services } = call
    checkImage(call, plan, await hostImages(db))
    const sshKey =
      input.ssh_key === undefined
        ? null
        : await checkSshKey(db, services, caller.accountId, input.ssh_key, call.fail)
    const userData = checkUserData(input.user_data, call.fail)
    // Orders of one account run one after the other: each sees what the others left of the balance.
    const balance = await lockBalance(db, caller.accountId)
    const autoRenew = await checkRenewal(call)
    if (input.dry_run) return quote(call, plan)

    const now = services.clock.now()
    const awaiting = await findAwaitingOrder(db, {
      accountId: caller.accountId,
      product: plan.slug,
      osId: input.os_id,
      sshKey,
      hostname: input.hostname,
      billingCycle: input.billing_cycle,
      months: input.months,
      prices: input.quote_id === undefined ? undefined : plan,
      boot: input.boot,
      region: input.region,
      isSame: ({ user_data, service_id }) =>
        userData === (user_data ? services.sealer.open(user_data, userDataPurpose(service_id)) : undefined),
      now,
    })
    // The caller who continues an order is charged for it.
    const order: OrderRow = {
      ...(awaiting ?? newOrder(call, plan, sshKey, now)),
      token_id: caller.tokenId,
      auto_renew: autoRenew,
    }
    if (awaiting) await setOrderAutoRenew(db, order.id, autoRenew)
    // An order that continues keeps its price.
    checkPrice(call, orderTotal(order))
    const by = { asked, invoiceId: order.invoice_id ?? undefined }
    const spender = spenderOf(db, order, by)
    const approvalId = spender && (await checkBudget(db, { ...spender, amount: orderTotal(order), at: now }))
    const unpaid = judgeBalance(balance, orderTotal(order), 'this order')
    if (unpaid) return refuseUnpaid(call, order, { isNew: !awaiting, approvalId }, unpaid)

    if (!awaiting) await insertOrder(db, order)
    await startOrder(db, services, prepared, order, by)
    if (order.invoice_id) await services.invoicing.markPaid(db, services, order.invoice_id)
    await announce(db, RECONCILE_VPS)

    return placedOrder(db, services, order.id)
  },
)

function atQuotedPrice({ input, caller, services, fail }: BeforeOrder, plan: CatalogPlan): CatalogPlan {
  if (input.quote_id === undefined) return plan
  const quoted = readQuote(services, caller.accountId, input.quote_id, plan.slug)
  if (!quoted)
    throw fail('quote_invalid', `The quote has expired, or is not one of yours for plan ${plan.slug}`, {
      nextSteps: [
        {
          tool: 'order_vps',
          why: 'Get a new quote for it',
          arguments: { product: input.product, os_id: input.os_id, dry_run: true },
        },
      ],
    })
  return { ...plan, ...quoted }
}

/** Whether it renews itself: as asked for, or when the budget allows it. */
async function checkRenewal({ input, caller, db, services }: OrderCall): Promise<boolean> {
  const renewer = { tokenId: caller.tokenId, at: services.clock.now() }
  if (input.auto_renew) await checkAutoRenew(db, renewer)
  return input.auto_renew ?? (await mayAutoRenew(db, renewer))
}

function newOrder(
  { input, caller, services }: OrderCall,
  plan: CatalogPlan,
  sshKey: string | null,
  now: Date,
): Omit<OrderRow, 'auto_renew'> {
  const serviceId = services.newId('service')
  return {
    id: services.newId('order'),
    account_id: caller.accountId,
    status: 'awaiting_payment',
    product: plan.slug,
    os_id: input.os_id,
    hostname: input.hostname ?? `vps-${serviceId.slice(-6)}`,
    ssh_key: sshKey,
    service_id: serviceId,
    user_data:
      input.user_data === undefined
        ? null
        : services.sealer.seal(input.user_data, userDataPurpose(serviceId)),
    price: plan.price,
    price_hourly: plan.price_hourly,
    region: input.region ?? null,
    billing_cycle: input.billing_cycle,
    months: input.months,
    invoice_id: null,
    hold_id: null,
    failure_reason: null,
    token_id: caller.tokenId,
    created_at: now,
    expires_at: new Date(now.getTime() + AWAITING_MS),
    boot: input.boot,
  }
}

/** Tells what the order would cost and whether it could be placed now. Nothing is written. */
async function quote(call: OrderCall, plan: CatalogPlan) {
  const { caller, db, services } = call
  const order = newOrder(call, plan, null, services.clock.now())
  checkPrice(call, orderTotal(order))
  await demandRoom(db, services, order)
  return {
    ...orderView(order),
    status: 'quote' as const,
    service_id: null,
    quote: makeQuote(services, caller.accountId, plan),
    paid_from_balance: false,
    service: null,
    ...(await balanceNow(db, services, caller.accountId)),
  }
}

/**
 * 402: the order is kept, awaiting payment, with its invoice. Asked for again, it is the same order. For a machine that
 * cannot be placed no money is asked for.
 * @throws OperationError `capacity`
 */
async function refuseUnpaid(
  { input, db, services, fail }: OrderCall,
  order: OrderRow,
  { isNew, approvalId }: { isNew: boolean; approvalId: string | undefined },
  unpaid: NonNullable<ReturnType<typeof judgeBalance>>,
): Promise<never> {
  if (input.create_invoice && isNew) await checkUnpaidOrders(db, services, order.account_id)
  await demandRoom(db, services, order)
  const invoice = input.create_invoice ? await invoiceOf(db, services, order, isNew) : null
  if (invoice && approvalId !== undefined)
    await keepForInvoice(db, approvalId, { invoiceId: invoice.id, until: order.expires_at })
  const terms =
    invoice &&
    (await services.invoicing.termsWithinCall(db, services, invoice.id, {
      url: services.config.publicUrl + basePath + operations.orderVps.path,
      description: `VPS ${order.product}`,
      error: unpaid.message,
    }))
  throw fail(unpaid.code, unpaid.message, {
    keepEffects: true,
    ...(invoice && { fix: terms?.accepts ? SIGN_OR_PAY_INVOICE : PAY_INVOICE }),
    fields: {
      ...unpaid.fields,
      ...terms,
      order_id: invoice ? order.id : null,
      invoice: invoice && Invoice.encode(invoice),
      checkout_url: invoice?.checkout_url ?? null,
    },
    nextSteps: invoice
      ? [
          {
            tool: 'pay_invoice',
            why: 'Pay this order: send the tokens to one of the payment_options of the invoice, then wait with get_invoice',
            arguments: { invoice_id: invoice.id, method: 'crypto' },
          },
          { tool: 'topup_balance', why: 'Or top up the balance and send the same order again' },
        ]
      : [{ tool: 'topup_balance', why: 'Top up the balance and send the same order again' }],
  })
}

/** @throws OperationError `unpaid_order_limit` */
async function checkUnpaidOrders(db: Transaction, { clock }: OrderCall['services'], accountId: string) {
  const now = clock.now()
  const since = new Date(now.getTime() - AWAITING_MS)
  const { open, recent, invoiceId } = await countUnpaidOrders(db, accountId, { now, since })
  if (open < MOST_UNPAID && recent < MOST_UNPAID_A_DAY) return
  const isFull = open >= MOST_UNPAID
  const oldest = { arguments: { invoice_id: invoiceId } }
  throw new OperationError(
    'unpaid_order_limit',
    isFull
      ? `${MOST_UNPAID} orders of this account wait for their payment`
      : `${MOST_UNPAID_A_DAY} orders of this account in 24 hours were not paid`,
    {
      nextSteps: [
        ...(isFull
          ? [
              { tool: 'pay_invoice', why: 'Pay the oldest unpaid order', ...oldest },
              { tool: 'cancel_invoice', why: 'Or cancel it', ...oldest },
            ]
          : []),
        { tool: 'topup_balance', why: 'Top up the balance, then send the same order again' },
      ],
    },
  )
}

/** The invoice to pay for an order: the one it has, or a new one when that was cancelled. */
async function invoiceOf(db: Transaction, services: OrderCall['services'], order: OrderRow, isNew: boolean) {
  if (order.invoice_id) {
    const invoice = await services.invoicing.view(db, services, order.invoice_id)
    if (invoice.status === 'unpaid' || invoice.status === 'confirming') return invoice
  }
  if (isNew) await insertOrder(db, order)
  const invoice = await services.invoicing.openForOrder(db, services, {
    accountId: order.account_id,
    orderId: order.id,
    amount: orderTotal(order),
    expiresAt: order.expires_at,
  })
  await setOrderInvoice(db, order.id, invoice.id)
  return invoice
}
