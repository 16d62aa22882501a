import { z } from 'zod'
import { exampleSshKey } from './examples.ts'
import { operation } from './operation.ts'
import { awaitSsh, monthsFit, NO_MONTHS, orderErrors, orderFields, PlacedOrder } from './orders.ts'
import { Purchase, purchaseErrors } from './payment-shapes.ts'
import { PaidSandbox, sandboxFields, startErrors, useSandbox } from './sandboxes.ts'

/** The operations by which callers with a wallet and no account buy. */
export const vpsPurchases = {
  buyVps: operation({
    method: 'POST',
    path: '/x402/orders',
    atOrigin: true,
    summary: 'Buy a VPS without an account',
    description:
      'Orders a VPS with one signed payment (x402, EIP-3009), without an account or a token. The first call answers 402 with what to sign, and the same call with the payment orders. It takes what order_vps takes. The terms cover the months, or the hours of an hourly VPS; what is not used stays on the balance of the wallet. The answer has a token, once; verify_wallet_login gives another.',
    access: 'public',
    rate: 'purchases',
    x402: 'always',
    effect: 'spend',
    idempotent: false,
    input: z
      .strictObject({
        ...orderFields,
        hours: z.number().int().min(1).max(720).default(24).describe('Paid in advance, for hourly alone'),
      })
      .refine(monthsFit, NO_MONTHS),
    output: PlacedOrder.extend(Purchase),
    created: ({ id }) => `/orders/${id}`,
    errors: [...orderErrors, ...purchaseErrors],
    example: {
      product: 'nano',
      os_id: 1,
      billing_cycle: 'hourly',
      ssh_key: exampleSshKey,
    },
    next: awaitSsh,
  }),
}

export const sandboxPurchases = {
  buySandbox: operation({
    method: 'POST',
    path: '/x402/sandboxes',
    atOrigin: true,
    summary: 'Buy a sandbox without an account',
    description:
      'Starts a sandbox with one signed payment (x402, EIP-3009), as buy_vps orders a VPS. It takes what create_sandbox takes. The terms cover its timeout, at least 0.01 USD.',
    access: 'public',
    rate: 'purchases',
    x402: 'always',
    effect: 'spend',
    idempotent: false,
    input: z.strictObject(sandboxFields),
    output: PaidSandbox.extend(Purchase),
    created: ({ id }) => `/sandboxes/${id}`,
    errors: [...startErrors, 'unknown_template', ...purchaseErrors],
    example: { tariff: 'micro', timeout: 300 },
    next: ({ token, ...body }) =>
      useSandbox(body).map((step) => ({
        ...step,
        arguments: {
          ...step.arguments,
          ...(typeof token === 'string' ? { access_token: token } : {}),
        },
      })),
  }),
}
