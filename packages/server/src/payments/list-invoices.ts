import type { Handler } from '../dispatch/handler.ts'
import { pageOf } from '../dispatch/paging.ts'
import { invoicesOf } from './invoice-store.ts'
import { showInvoices } from './show-invoice.ts'

export const listInvoices: Handler<'listInvoices'> = async ({ input, caller, db, services }) => {
  const { limit, cursor, status } = input
  const rows = await invoicesOf(db, caller.accountId, { limit: limit + 1, before: cursor, status })
  return pageOf(await showInvoices(db, services, rows), limit, (invoice) => invoice)
}
