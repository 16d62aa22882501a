import { formatUsd } from '@coinrack/contract/wire.ts'
import { mine, newestFirst } from './account-handlers.ts'
import { contentOf, demandFile, readPart } from './files.ts'
import { type Handlers, waitUntil } from './handler.ts'
import { invoiceFields, makeInvoice } from './money.ts'
import { Refusal } from './refusal.ts'
import type { MockVps, Order } from './state.ts'
import { runProgram } from './tasks.ts'
import { beginWork, creditRest, makeVps, settleVps } from './vps.ts'

const LOOK = 'Check the path: run_on_vps shows what is there.'
const GONE = ['failed', 'deleted']
const kindOf = {
  start: 'start',
  stop: 'stop',
  reboot: 'reboot',
  force_stop: 'stop',
  reset: 'reboot',
} as const

/** Orders and VPS. */
export const vpsHandlers: Handlers = {
  orderVps(call) {
    const { input, account, state, plans } = call
    const plan = plans.find(({ slug }) => slug === input.product)
    if (!plan) throw new Refusal('unknown_product', `There is no plan ${input.product}`)
    if (!plan.os_images.some(({ os_id }) => os_id === input.os_id))
      throw new Refusal('os_not_supported', `${plan.slug} has no image ${input.os_id}`)
    if (!plan.available) throw new Refusal('capacity', 'No host has room for it now')
    const cycle = input.billing_cycle
    const total = cycle === 'hourly' ? plan.price_hourly : plan.price * BigInt(input.months)
    if (input.max_price !== undefined && total > input.max_price)
      throw new Refusal('price_above_maximum', `It costs ${formatUsd(total)} USD`, {
        price: formatUsd(total),
      })
    const id = state.id('order')
    const order: Order = {
      ...{ id, status: 'quote', product: plan.slug, os_id: input.os_id, total, currency: 'USD' },
      ...{ hostname: input.hostname ?? `vps-${state.orders.size + 1}`, service_id: null, invoice_id: null },
      ...{ failure_reason: null, created_at: state.now() },
    }
    if (input.dry_run) {
      const expires_at = new Date(state.now().getTime() + 900_000)
      const quote = { id: `quote-${id}`, expires_at }
      return { ...order, quote, paid_from_balance: false, service: null, ...state.runway(account) }
    }
    const kept = { accountId: account.id, view: order }
    if (account.available < total) {
      let fields = {}
      if (input.create_invoice && cycle === 'monthly') {
        const { view } = makeInvoice(state, account, { kind: 'order', amount: total, order_id: id })
        Object.assign(order, { status: 'awaiting_payment', invoice_id: view.id })
        state.orders.set(id, kept)
        const fix = 'Pay the invoice at its checkout_url, or top up with topup_balance and repeat the call.'
        fields = { fix, order_id: id, ...invoiceFields(view) }
      }
      state.demand(account, total, formatUsd, fields)
    }
    state.orders.set(id, kept)
    const { months, auto_renew = true } = input
    const { view } = makeVps(state, account, order, plan, { cycle, months, auto_renew })
    return { ...order, quote: null, paid_from_balance: true, service: view, ...state.runway(account) }
  },
  listOrders: ({ account, state }) => newestFirst(mine(state.orders, account)),
  getOrder: ({ input, state }) => state.orders.get(input.order_id)!.view,
  listVps: ({ input, account, state }) =>
    newestFirst(mine(state.vps, account)).filter(({ status }) =>
      input.status === undefined ? !GONE.includes(status) : status === input.status,
    ),
  getVpsStatus({ input, state }) {
    const vps = state.vps.get(input.service_id)!
    const isSo = () => {
      settleVps(state, vps)
      const { status, ssh_ready } = vps.view
      return GONE.includes(status) || (input.wait === 'ssh_ready' ? ssh_ready : status === input.wait)
    }
    if (input.wait) waitUntil(state, input.timeout, isSo)
    const isShown = input.reveal !== false && vps.view.ssh_ready && vps.password !== undefined
    const password = isShown ? { root_password: vps.password! } : {}
    if (isShown) {
      vps.password = undefined
      vps.view.password_available = false
    }
    const metrics = {
      ...{ cpu_percent: null, memory_used_mb: null, disk_used_gb: null },
      ...{ rx_bytes: null, tx_bytes: null, uptime_s: null },
    }
    return { ...vps.view, ...password, metrics }
  },
  powerVps({ input, state }) {
    const vps = demandSettled(state.vps.get(input.service_id)!)
    const operation = beginWork(state, vps, kindOf[input.action])
    return { service: vps.view, operation }
  },
  reinstallVps({ input, state }) {
    const vps = demandSettled(state.vps.get(input.service_id)!)
    demandConfirmed(input.confirm, vps)
    return { service: vps.view, operation: beginWork(state, vps, 'reinstall') }
  },
  getOperation({ input, state }) {
    const { view } = state.works.get(input.operation_id)!
    const vps = state.vps.get(view.service_id)!
    const isSo = () => {
      settleVps(state, vps)
      return view.status !== 'running'
    }
    if (input.wait) waitUntil(state, input.timeout, isSo)
    return view
  },
  cancelService({ input, account, state, plans }) {
    const vps = state.vps.get(input.service_id)!
    const { view } = vps
    const isNow = input.mode === 'immediate'
    if (isNow) demandConfirmed(input.confirm, vps)
    const plan = plans.find(({ slug }) => slug === view.product)
    const credited = isNow ? creditRest(state, vps, plan) : 0n
    if (!isNow || view.billing)
      Object.assign(view.billing!, { cancel_at_period_end: !isNow, auto_renew: false })
    const operation = beginWork(state, vps, 'cancel')
    if (!isNow) vps.readyAt = Number.POSITIVE_INFINITY
    return { service: view, operation, credited, ...state.runway(account) }
  },
  runOnVps({ input, state, programs }) {
    const vps = demandActive(state.vps.get(input.service_id)!)
    const { command: text, input: typed = '', env = {}, timeout } = input
    const run = { text, id: vps.view.id, input: typed, env, files: vps.files }
    const ended = runProgram(state, programs.command, run, timeout)
    const { stdout, stderr, exit_code, timed_out, truncated, duration_ms } = ended
    return { stdout, stderr, exit_code, timed_out, truncated, duration_ms }
  },
  readVpsFile({ input, state }) {
    const { files } = demandActive(state.vps.get(input.service_id)!)
    return readPart(input.path, demandFile(files, input.path, LOOK), input.offset, input.length)
  },
  writeVpsFile({ input, state }) {
    const { files } = demandActive(state.vps.get(input.service_id)!)
    const { path, offset } = input
    const before = offset === undefined ? new Uint8Array() : demandFile(files, path, LOOK).subarray(0, offset)
    const bytes = new Uint8Array([...before, ...contentOf(input)])
    files.set(path, bytes)
    return { path, size: bytes.length }
  },
}

function demandSettled(vps: MockVps): MockVps {
  const { status } = vps.view
  if (status === 'active' || status === 'stopped') return vps
  throw new Refusal('service_busy', `The service is ${status}`)
}

function demandActive(vps: MockVps): MockVps {
  if (vps.view.status === 'active') return vps
  throw new Refusal('service_busy', `The service is ${vps.view.status}`)
}

function demandConfirmed(confirm: boolean | string | undefined, { view }: MockVps): void {
  if (confirm === true || confirm === view.hostname || confirm === 'DELETE') return
  throw new Refusal('confirmation_required', `Send confirm with ${view.hostname}`)
}
