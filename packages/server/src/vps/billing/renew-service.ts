import { basePath, operations } from '@coinrack/contract/index.ts'
import { Invoice } from '@coinrack/contract/invoices.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { keepForInvoice } from '../../ledger/approval-store.ts'
import { lockBalance } from '../../ledger/balance.ts'
import { balanceNow } from '../../ledger/balance-view.ts'
import { checkBudget } from '../../ledger/budget.ts'
import { judgeBalance } from '../../ledger/judge-balance.ts'
import { PAY_INVOICE, SIGN_OR_PAY_INVOICE } from '../../platform/errors.ts'
import type { Ordering } from '../../platform/slice-ports.ts'
import { stateRefusal } from '../machine/state-refusal.ts'
import { lockVps, vpsById } from '../machine/vps-store.ts'
import { vpsView } from '../machine/vps-view.ts'
import { lengthOf } from './charge-periods.ts'
import { cyclePrice } from './cycle-price.ts'
import { askingToRenew, checkRenewalLimit, isRenewable, renewVps } from './renew-vps.ts'
import { openRenewalInvoice } from './renewal-invoice.ts'

/** Charges more time and writes it down, in one transaction; a suspended VPS goes on from now. */
export const renewService: Handler<'renewService'> = async ({ input, caller, asked, db, services, fail }) => {
  const row = await lockVps(db, input.service_id)
  if (!isRenewable(row)) throw fail('service_busy', ...stateRefusal(row))
  if (row.cycle === 'hourly' && input.months !== 1) {
    const message = 'An hourly VPS is renewed by one hour: leave months out'
    throw fail('invalid_input', message, { fields: { details: [{ path: 'months', message }] } })
  }
  const amount = cyclePrice(row) * BigInt(input.months)
  const what = lengthOf(row.cycle, input.months)
  const now = services.clock.now()
  checkRenewalLimit(row, input.months, now)
  const balance = await lockBalance(db, row.account_id)
  const asking = askingToRenew(asked, row, input.months)
  const approvalId = await checkBudget(db, { tokenId: caller.tokenId, amount, at: now, asking })
  const unpaid = judgeBalance(balance, amount, what)
  if (unpaid) {
    const invoice = await openRenewalInvoice(db, services, row, input.months)
    if (invoice && approvalId !== undefined)
      await keepForInvoice(db, approvalId, { invoiceId: invoice.id, until: invoice.expires_at })
    const terms =
      invoice &&
      (await services.invoicing.termsWithinCall(db, services, invoice.id, {
        url: services.config.publicUrl + basePath + operations.renewService.path.replace('{id}', row.id),
        description: `More time of VPS ${row.id}`,
        error: unpaid.message,
      }))
    throw fail(unpaid.code, unpaid.message, {
      keepEffects: true,
      ...(invoice && { fix: terms?.accepts ? SIGN_OR_PAY_INVOICE : PAY_INVOICE }),
      fields: {
        ...unpaid.fields,
        ...terms,
        invoice: invoice ? Invoice.encode(invoice) : null,
        checkout_url: invoice?.checkout_url ?? null,
      },
      nextSteps: [
        ...(invoice
          ? [
              {
                tool: 'pay_invoice',
                why: 'Pay this renewal',
                arguments: { invoice_id: invoice.id, method: 'crypto' },
              },
            ]
          : []),
        { tool: 'topup_balance', why: 'Top up the balance and send the same renewal again' },
      ],
    })
  }
  const charged = await renewVps(db, services, {
    row,
    count: input.months,
    tokenId: caller.tokenId,
    asking,
  })
  await services.invoicing.markRenewed(db, services, row.id, input.months)
  return { ...(await renewedService(db, services, row.id)), charged }
}

export const renewedService: Ordering['renewedService'] = async (db, services, serviceId) => {
  const row = await vpsById(db, serviceId)
  return { service: vpsView(row), ...(await balanceNow(db, services, row.account_id)) }
}
