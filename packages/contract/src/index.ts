import { account } from './account.ts'
import { approvals } from './approvals.ts'
import { balance } from './balance.ts'
import { billing } from './billing.ts'
import { catalog } from './catalog.ts'
import { console } from './console.ts'
import { control } from './control.ts'
import { delegations } from './delegations.ts'
import { events } from './events.ts'
import { guide } from './guide.ts'
import { invoices } from './invoices.ts'
import { metrics } from './metrics.ts'
import { network } from './network.ts'
import type { Operation } from './operation.ts'
import { orders } from './orders.ts'
import { programs } from './programs.ts'
import { sandboxPurchases, vpsPurchases } from './purchases.ts'
import { receipts } from './receipts.ts'
import { refunds } from './refunds.ts'
import { sandboxFiles } from './sandbox-files.ts'
import { sandboxMetrics } from './sandbox-metrics.ts'
import { sandboxPorts } from './sandbox-ports.ts'
import { sandboxTemplates } from './sandbox-templates.ts'
import { sandboxWork } from './sandbox-work.ts'
import { sandboxes } from './sandboxes.ts'
import { snapshots } from './snapshots.ts'
import { sshKeys } from './ssh-keys.ts'
import type { Subject } from './subjects.ts'
import { tickets } from './tickets.ts'
import { tokens } from './tokens.ts'
import { vps } from './vps.ts'
import { webhooks } from './webhooks.ts'
import { work } from './work.ts'

type About<O, S extends Subject> = { [N in keyof O]: O[N] & { subject: S } }

const about = <const O extends Record<string, object>, S extends Subject>(subject: S, declared: O) =>
  Object.fromEntries(
    Object.entries(declared).map(([name, op]) => [name, { ...op, subject }]),
  ) as unknown as About<O, S>

/** The table of contents of the whole service, in the order in which a newcomer needs it. */
export const operations = {
  ...about('Guide', guide),
  ...about('Account', account),
  ...about('Account', tokens),
  ...about('Account', approvals),
  ...about('VPS', sshKeys),
  ...about('Catalog', catalog),
  ...about('Balance', balance),
  ...about('Balance', invoices),
  ...about('Balance', receipts),
  ...about('Balance', refunds),
  ...about('VPS', orders),
  ...about('VPS', vpsPurchases),
  ...about('VPS', vps),
  ...about('VPS', billing),
  ...about('VPS', network),
  ...about('VPS', control),
  ...about('VPS', work),
  ...about('VPS', metrics),
  ...about('VPS', console),
  ...about('VPS', snapshots),
  ...about('Sandboxes', sandboxes),
  ...about('Sandboxes', sandboxMetrics),
  ...about('Sandboxes', sandboxPurchases),
  ...about('Sandboxes', programs),
  ...about('Sandboxes', sandboxWork),
  ...about('Sandboxes', sandboxFiles),
  ...about('Sandboxes', sandboxPorts),
  ...about('Sandboxes', sandboxTemplates),
  ...about('Events', events),
  ...about('Events', webhooks),
  ...about('Support', tickets),
  ...about('Delegations', delegations),
}

export type Operations = typeof operations
export type OperationName = keyof Operations

export const operationList = Object.entries(operations) as [OperationName, Operation & { subject: Subject }][]

/** REST lives below `{origin}` + this path. */
export const basePath = '/api/v1/eqvps'

/** Operations for callers with a wallet and no account lie below `{origin}` + this path. */
export const walletPath = '/x402'

/** The path of an operation below `{origin}`. */
export const pathAtOrigin = ({ path, atOrigin }: Pick<Operation, 'path' | 'atOrigin'>) =>
  atOrigin ? path : basePath + path
