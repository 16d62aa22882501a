import { z } from 'zod'
import { balanceFields } from './balance.ts'
import { approvalErrors } from './common-errors.ts'
import { operation } from './operation.ts'
import { purchaseErrors, Settlement } from './payment-shapes.ts'
import { ServiceId, Vps } from './vps.ts'
import { Usd } from './wire.ts'

const service = { service_id: ServiceId }
const serviceExample = { service_id: 'vps_01kabcdefghjkmnpqrstvwxyz0' }

export const billing = {
  renewService: operation({
    method: 'POST',
    path: '/services/{id}/renew',
    everyday: true,
    summary: 'Pay more time of a VPS',
    description:
      'Charges the balance for more months of a VPS (hourly: one hour), beyond the time that is paid. A suspended VPS is charged from now on and started again; a cancellation is withdrawn. When the balance does not cover it the 402 has an unpaid invoice (hourly: none) and x402 terms: paying either renews it.',
    access: 'order',
    rate: 'orders',
    resource: 'service',
    x402: true,
    effect: 'spend',
    idempotent: false,
    input: z.strictObject({
      ...service,
      months: z.number().int().min(1).max(12).default(1).describe('1 for an hourly VPS'),
    }),
    output: z.object({
      service: Vps,
      charged: Usd,
      ...balanceFields,
      settlement: Settlement.optional(),
    }),
    errors: [
      'service_busy',
      'renewal_limit',
      'budget_exceeded',
      ...approvalErrors,
      'insufficient_balance',
      'account_owes',
      ...purchaseErrors,
    ],
    example: { ...serviceExample, months: 1 },
    next: (_answer, { service_id }) => [
      { tool: 'set_auto_renew', why: 'Or let it renew itself', arguments: { service_id, enabled: true } },
    ],
  }),
  setAutoRenew: operation({
    method: 'PUT',
    path: '/services/{id}/auto-renew',
    summary: 'Turn automatic renewal on or off',
    description:
      'Turns the automatic renewal of a VPS on or off. With enabled the balance is charged for one more period whenever the paid time ends; this also withdraws a cancellation to the end of the period. A token needs allow_auto_renew for it, and each renewal counts for the budget of the token that ordered; one above approve_above of either token is not made. Without renewal, money or budget the VPS is suspended then: powered off, and deleted after 7 days (hourly: 3).',
    access: 'order',
    rate: 'default',
    resource: 'service',
    effect: 'write',
    idempotent: true,
    input: z.strictObject({ ...service, enabled: z.boolean() }),
    output: z.object({ service: Vps, ...balanceFields }),
    errors: ['service_busy', 'budget_exceeded'],
    example: { ...serviceExample, enabled: false },
    next: () => [{ tool: 'get_balance', why: 'See how long the balance lasts' }],
  }),
}
