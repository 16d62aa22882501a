import type { Transaction } from '../../database/transaction.ts'
import { nextIpv6 } from '../../hosts/address-pool.ts'
import { mayAutoRenew } from '../../ledger/auto-renew.ts'
import type { TokenCharge } from '../../ledger/budget.ts'
import { placeHold } from '../../ledger/hold.ts'
import type { AskedCall, Asking } from '../../platform/approval-needed.ts'
import type { OrderPreparation } from '../../platform/host-facts.ts'
import { recordEvent } from '../../platform/record-event.ts'
import type { Services } from '../../platform/services.ts'
import { lengthOf } from '../billing/charge-periods.ts'
import { makeSshHostKey } from '../machine/ssh-host-key.ts'
import { insertVps } from '../machine/vps-store.ts'
import { takeRoom } from './find-room.ts'
import { forgetOrderUserData, liveVpsOf, type OrderRow, orderTotal, setOrderStatus } from './order-store.ts'

/**
 * Begins an order: the hold of its price and the wanted machine, in one transaction.
 * @param prepared with a password
 * @param order written down already; it counts for the budget of its token
 * @param by the call that begins it, or the invoice that is paid
 * @throws InsufficientFunds when the balance does not cover the price
 * @throws OperationError `budget_exceeded`, `approval_needed`; `capacity` when no machine can be placed now, before anything is held
 */
export async function startOrder(
  tx: Transaction,
  services: Services,
  { password }: OrderPreparation,
  order: OrderRow,
  by: OrderedBy,
): Promise<void> {
  const { clock, newId, random, sealer } = services
  if (!password) throw new Error('An order cannot begin without a password of root')
  // Before the lock that all orders of a host wait for.
  const hostKey = makeSshHostKey(random)
  const { plan, image, place, host, features } = await takeRoom(tx, services, order)

  const now = clock.now()
  const holdId = newId('hold')
  await placeHold(tx, {
    id: holdId,
    transactionId: newId('transaction'),
    accountId: order.account_id,
    amount: orderTotal(order),
    purpose: order.id,
    description: `Reserved for ${plan.name} ${order.hostname}`,
    at: now,
    spender: spenderOf(tx, order, by),
  })
  const id = order.service_id
  await insertVps(
    tx,
    { id, account_id: order.account_id, order_id: order.id, created_at: now },
    {
      os_id: order.os_id,
      os_name: image.name,
      image: image.slug,
      region: host.region,
      hostname: order.hostname,
      vcpus: plan.vcpus,
      memory_mb: plan.memory_mb,
      disk_gb: plan.disk_gb,
      boot: order.boot,
      ssh_key: order.ssh_key,
      ...place,
      ipv6: await nextIpv6(tx, host.network, features),
      ssh_host_public_key: hostKey.publicKey,
      ssh_host_private_key: sealer.seal(hostKey.privateKey, `ssh-host-key:${id}`),
      root_password: sealer.seal(password.plain, `root-password:${id}`),
      root_password_hash: password.hash,
      user_data: order.user_data,
    },
    {
      product: plan.slug,
      price: order.price,
      price_hourly: order.price_hourly,
      cycle: order.billing_cycle,
      // The caller who pays an order may have another budget than the one who asked for it.
      auto_renew:
        order.auto_renew &&
        (order.token_id === null || (await mayAutoRenew(tx, { tokenId: order.token_id, at: now }))),
      renewer_id: order.token_id,
    },
  )
  await setOrderStatus(tx, order.id, 'provisioning', { holdId, tokenId: order.token_id })
  await forgetOrderUserData(tx, order.id)
  await recordEvent(tx, services, order.account_id, 'order.placed', {
    order_id: order.id,
    service_id: order.service_id,
    product: plan.slug,
    total: orderTotal(order),
  })
}

/** What begins an order: a call, or money for its invoice. */
interface OrderedBy {
  asked: AskedCall | undefined
  invoiceId?: string | undefined
}

/** The token whose budget an order counts for; undefined when the order is older than budgets. */
export const spenderOf = (
  tx: Transaction,
  order: OrderRow,
  { asked, invoiceId }: OrderedBy,
): Pick<TokenCharge, 'tokenId' | 'machine' | 'asking' | 'invoiceId'> | undefined =>
  order.token_id === null
    ? undefined
    : {
        tokenId: order.token_id,
        machine: { cap: 'max_live_vps', live: (id) => liveVpsOf(tx, id) },
        asking: asked && askingFor(asked, order),
        invoiceId,
      }

/** What a person is asked to approve. */
const askingFor = (call: AskedCall, order: OrderRow): Asking => ({
  call,
  subject: `VPS ${order.product} ${order.hostname}, ${lengthOf(order.billing_cycle, order.months)}`,
  afterwards: order.auto_renew
    ? order.billing_cycle === 'hourly'
      ? { price: order.price_hourly, per: 'hour' }
      : { price: order.price, per: 'month' }
    : undefined,
})
