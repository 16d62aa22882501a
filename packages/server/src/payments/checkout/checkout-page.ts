import { networks, tokenSymbols } from '@coinrack/contract/invoices.ts'
import { script, style, wallet } from '@coinrack/web/checkout/assets.ts'
import type { PageOptions } from '@coinrack/web/checkout/page.ts'
import { z } from 'zod'
import { explorerOf } from '../../chain/wallet-chain.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { type CheckoutView, checkoutView } from './checkout-view.ts'
import { isGasless } from './wallet-request.ts'

/** The secret in the address grants access to the invoice, so these headers keep it from other sites and from caches. */
export const PRIVATE = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
}
export const PAGE = {
  ...PRIVATE,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
}

export const assets = { style: style.path, script: script.path, wallet: wallet.path }

/** A way to pay, as it is named in a query or a form. */
export const Choice = z.object({ network: z.enum(networks), token: z.enum(tokenSymbols) })
const CodeKind = z.object({ code: z.enum(['address', 'transfer']) })

export const pathOf = (secret: string) => `/checkout/${encodeURIComponent(secret)}`

/** The options for the page of an invoice, beside its view. */
export function pageOptions(services: Services, secret: string, query: unknown): PageOptions {
  const { chains, config, demo } = services
  return {
    path: pathOf(secret),
    publicUrl: config.publicUrl,
    chosen: Choice.safeParse(query).data,
    code: CodeKind.safeParse(query).data?.code ?? 'address',
    explorerOf: (network) => {
      const chain = chains.find(({ settings }) => settings.network === network)
      return chain && explorerOf(chain.settings)
    },
    isGasless: (choice) => isGasless(services, choice),
    demo: demo !== undefined,
    assets,
  }
}

/** @throws OperationError `not_found` */
export async function demandView(services: Services, secret: string): Promise<CheckoutView> {
  const view = await checkoutView(services, secret)
  if (!view) throw new OperationError('not_found', 'There is no invoice at this address')
  return view
}
