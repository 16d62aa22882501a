import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Plan } from './plans.ts'
import { vpsFeatures } from './plans.ts'
import type { Account, MockVps, Order, State, VpsView, Work } from './state.ts'

const POWER_SECONDS = 2
const HOUR_MS = 3_600_000

/** The same day of the next month, or its last one. */
function monthsLater(from: Date, months: number): Date {
  const to = new Date(from)
  to.setUTCDate(1)
  to.setUTCMonth(to.getUTCMonth() + months)
  const last = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0)).getUTCDate()
  to.setUTCDate(Math.min(from.getUTCDate(), last))
  return to
}

/** Makes a VPS of an order, whose price is held until SSH answers. */
export function makeVps(
  state: State,
  account: Account,
  order: Order,
  plan: Plan,
  { cycle, months, auto_renew }: { cycle: 'monthly' | 'hourly'; months: number; auto_renew: boolean },
): MockVps {
  const id = state.id('service')
  const port = 22_000 + state.vps.size
  const host = '127.0.0.1'
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJtCrlyLGaUhewbtgnqbI3E9iYnrDWvZ4Yhlb8rcBR8Y'
  const image = plan.os_images.find(({ os_id }) => os_id === order.os_id)!
  state.post(account, {
    ...{ kind: 'hold', description: `Reserved for ${plan.name} ${order.hostname}`, amount: -order.total },
    ...{ held_change: order.total, reference: `hold:${order.id}` },
  })
  const view: VpsView = {
    ...{ id, order_id: order.id, status: 'provisioning', ssh_ready: false, failure_reason: null },
    ...{ hostname: order.hostname, ip: host, ipv6: null, ssh_user: 'root', ssh_port: port },
    ssh: {
      ...{ host, port, user: 'root', command: `ssh -p ${port} root@${host}` },
      known_hosts: [`[${host}]:${port} ${key}`],
    },
    ...{ rescue: false, password_available: true, product: plan.slug, region: plan.regions[0]! },
    os: { os_id: image.os_id, name: image.name },
    features: [...vpsFeatures],
    billing: {
      ...{ cycle, price: cycle === 'hourly' ? plan.price_hourly : plan.price, paid_until: null, auto_renew },
      ...{ cancel_at_period_end: false, delete_at: null },
    },
    created_at: state.now(),
  }
  const readyAt = state.now().getTime() + state.bootSeconds * 1000
  const vps: MockVps = {
    ...{ accountId: account.id, view, order, readyAt, failure: state.provisioningFails },
    ...{ password: 'mock-root-password', work: undefined, files: new Map() },
  }
  Object.assign(order, { status: 'provisioning', service_id: id, months })
  state.vps.set(id, vps)
  return vps
}

/** Brings a VPS to where it is at this moment. */
export function settleVps(state: State, vps: MockVps): void {
  const { view, order, work } = vps
  if (state.now().getTime() < vps.readyAt) return
  const account = state.accounts.get(vps.accountId)!
  if (view.status === 'provisioning') {
    const reference = `${vps.failure ? 'release' : 'capture'}:${order.id}`
    if (vps.failure !== undefined) {
      Object.assign(view, { status: 'failed', failure_reason: vps.failure })
      Object.assign(order, { status: 'failed', failure_reason: vps.failure })
      const description = `${order.hostname}: ${vps.failure}`
      state.post(account, {
        kind: 'release',
        description,
        amount: order.total,
        held_change: -order.total,
        reference,
      })
      return
    }
    const { cycle } = view.billing!
    const description = `${order.hostname} (${view.product}), one ${cycle === 'hourly' ? 'hour' : 'month'}`
    state.post(account, { kind: 'charge', description, amount: 0n, held_change: -order.total, reference })
    const from = state.now()
    const months = (order as Order & { months?: number }).months ?? 1
    view.billing!.paid_until =
      cycle === 'hourly' ? new Date(from.getTime() + HOUR_MS) : monthsLater(from, months)
    Object.assign(view, { status: 'active', ssh_ready: true })
    order.status = 'active'
  }
  if (work?.status === 'running') {
    Object.assign(work, { status: 'succeeded', progress: 'Done', ended_at: state.now() })
    if (work.kind === 'cancel') Object.assign(view, { status: 'deleted', ssh_ready: false })
    else if (work.kind === 'stop') Object.assign(view, { status: 'stopped', ssh_ready: false })
    else Object.assign(view, { status: 'active', ssh_ready: true })
  }
}

/** Begins work on a VPS. */
export function beginWork(state: State, vps: MockVps, kind: Work['kind']): Work {
  const isNow =
    (kind === 'start' && vps.view.status === 'active') || (kind === 'stop' && vps.view.status === 'stopped')
  const work: Work = {
    ...{ id: state.id('operation'), service_id: vps.view.id, kind, status: 'running', progress: 'Begun' },
    ...{ error: null, created_at: state.now(), ended_at: null },
  }
  vps.readyAt = state.now().getTime() + (isNow ? 0 : POWER_SECONDS * 1000)
  vps.work = work
  state.works.set(work.id, { accountId: vps.accountId, view: work })
  if (kind === 'reboot') Object.assign(vps.view, { status: 'rebooting', ssh_ready: false })
  if (kind === 'reinstall') Object.assign(vps.view, { status: 'reinstalling', ssh_ready: false })
  if (kind === 'reinstall') Object.assign(vps, { files: new Map(), password: 'mock-root-password' })
  return work
}

/** Credits the time that is left, less the hours that were begun. @returns what was credited, in micro-USD */
export function creditRest(state: State, vps: MockVps, plan: Plan | undefined): bigint {
  const { billing, hostname } = vps.view
  if (!billing?.paid_until) return 0n
  const startedAt = vps.readyAt
  const hours = BigInt(Math.max(1, Math.ceil((state.now().getTime() - startedAt) / HOUR_MS)))
  const used = hours * (plan?.price_hourly ?? 0n)
  const credited = billing.cycle === 'hourly' || used >= vps.order.total ? 0n : vps.order.total - used
  if (credited > 0n)
    state.post(state.accounts.get(vps.accountId)!, {
      ...{
        kind: 'refund',
        description: `Order ${vps.order.id}: ${hostname} was cancelled (${formatUsd(credited)})`,
      },
      ...{ amount: credited, held_change: 0n, reference: `cancel:${vps.view.id}` },
    })
  return credited
}
