import type { Network, TokenSymbol } from '../chain/chain-settings.ts'
import type { Transaction } from '../database/transaction.ts'
import type { Services } from '../platform/services.ts'
import { addInvoiceAddress, ensureAccountAddress } from './deposit-address-store.ts'
import { type Invoice, insertInvoice, invoiceById } from './invoice-store.ts'

const LIFETIME_MS = 24 * 3_600_000
const SECRET_BYTES = 16

/**
 * A top-up invoice, paid at the account's own address.
 * @returns undefined when the account has an unpaid top-up invoice already
 */
export async function createTopupInvoice(
  tx: Transaction,
  services: Services,
  wanted: { accountId: string; amount: bigint; network: Network | null; token: TokenSymbol | null },
): Promise<Invoice | undefined> {
  const { network, token } = wanted
  const row = { ...newRow(services, wanted), kind: 'topup' as const, network, token }
  if (!(await insertInvoice(tx, row))) return undefined
  await ensureAccountAddress(tx, services, wanted.accountId)
  return invoiceById(tx, row.id)
}

/** The invoice of an order that the balance does not cover, paid at an address of its own. */
export async function createOrderInvoice(
  tx: Transaction,
  services: Services,
  wanted: { accountId: string; orderId: string; amount: bigint; expiresAt: Date },
): Promise<Invoice> {
  const order = { kind: 'order' as const, order_id: wanted.orderId, expires_at: wanted.expiresAt }
  return createAtOwnAddress(tx, services, { ...newRow(services, wanted), ...order })
}

/** The invoice of a renewal that the balance does not cover, paid at an address of its own. */
export async function createRenewalInvoice(
  tx: Transaction,
  services: Services,
  wanted: { accountId: string; serviceId: string; months: number; amount: bigint; expiresAt: Date },
): Promise<Invoice> {
  const { serviceId, months, expiresAt } = wanted
  const renewal = { kind: 'renewal' as const, service_id: serviceId, months, expires_at: expiresAt }
  return createAtOwnAddress(tx, services, { ...newRow(services, wanted), ...renewal })
}

async function createAtOwnAddress(
  tx: Transaction,
  services: Services,
  row: Parameters<typeof insertInvoice>[1],
): Promise<Invoice> {
  await insertInvoice(tx, row)
  await addInvoiceAddress(tx, services, row.account_id, row.id)
  return invoiceById(tx, row.id)
}

function newRow(services: Services, { accountId, amount }: { accountId: string; amount: bigint }) {
  const now = services.clock.now()
  return {
    id: services.newId('invoice'),
    account_id: accountId,
    amount,
    order_id: null,
    service_id: null,
    months: null,
    network: null,
    token: null,
    secret: Buffer.from(services.random.bytes(SECRET_BYTES)).toString('hex'),
    created_at: now,
    expires_at: new Date(now.getTime() + LIFETIME_MS),
  }
}
