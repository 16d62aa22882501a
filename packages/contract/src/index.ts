import { account } from './account.ts'
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
import { receipts } from './receipts.ts'
import { sandboxFiles } from './sandbox-files.ts'
import { sandboxPorts } from './sandbox-ports.ts'
import { sandboxWork } from './sandbox-work.ts'
import { sandboxes } from './sandboxes.ts'
import { snapshots } from './snapshots.ts'
import { sshKeys } from './ssh-keys.ts'
import { tickets } from './tickets.ts'
import { tokens } from './tokens.ts'
import { vps } from './vps.ts'
import { webhooks } from './webhooks.ts'
import { work } from './work.ts'

/** The table of contents of the whole service, in the order in which a newcomer needs it. */
export const operations = {
  ...guide,
  ...account,
  ...tokens,
  ...sshKeys,
  ...catalog,
  ...balance,
  ...invoices,
  ...receipts,
  ...orders,
  ...vps,
  ...billing,
  ...network,
  ...control,
  ...work,
  ...metrics,
  ...console,
  ...snapshots,
  ...sandboxes,
  ...sandboxWork,
  ...sandboxFiles,
  ...sandboxPorts,
  ...events,
  ...webhooks,
  ...tickets,
  ...delegations,
}

export type Operations = typeof operations
export type OperationName = keyof Operations

export const operationList = Object.entries(operations) as [OperationName, Operation][]

/** REST lives below `{origin}` + this path. */
export const basePath = '/api/v1/eqvps'
