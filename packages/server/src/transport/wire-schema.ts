import { Account } from '@coinrack/contract/account.ts'
import { Balance } from '@coinrack/contract/balance.ts'
import { Plan } from '@coinrack/contract/catalog.ts'
import { Delegation } from '@coinrack/contract/delegations.ts'
import { FileRead } from '@coinrack/contract/guest-shapes.ts'
import { Invoice } from '@coinrack/contract/invoices.ts'
import { FirewallRule } from '@coinrack/contract/network.ts'
import { Order } from '@coinrack/contract/orders.ts'
import { Settlement } from '@coinrack/contract/payment-shapes.ts'
import { Refund } from '@coinrack/contract/refunds.ts'
import { ExposedPort } from '@coinrack/contract/sandbox-ports.ts'
import { SandboxTemplate, TemplateBuild } from '@coinrack/contract/sandbox-templates.ts'
import { PaidSandbox, Sandbox, SandboxSnapshot } from '@coinrack/contract/sandboxes.ts'
import { Snapshot } from '@coinrack/contract/snapshots.ts'
import { SshKey } from '@coinrack/contract/ssh-keys.ts'
import { Ticket, TicketDetail } from '@coinrack/contract/tickets.ts'
import { Budget, Token } from '@coinrack/contract/tokens.ts'
import { SshAccess, Vps, VpsBilling } from '@coinrack/contract/vps.ts'
import { Delivery, Webhook } from '@coinrack/contract/webhooks.ts'
import { Timestamp, Usd, UsdInput } from '@coinrack/contract/wire.ts'
import { Work } from '@coinrack/contract/work.ts'
import { z } from 'zod'

/** Shapes that stand in many answers: each is described once, by its name. */
const named = {
  Account,
  Balance,
  Budget,
  Delegation,
  Delivery,
  ExposedPort,
  FileRead,
  FirewallRule,
  Invoice,
  Operation: Work,
  Order,
  PaidSandbox,
  Plan,
  Refund,
  Sandbox,
  SandboxSnapshot,
  SandboxTemplate,
  Snapshot,
  Settlement,
  SSHAccess: SshAccess,
  SSHKey: SshKey,
  TemplateBuild,
  Ticket,
  TicketDetail,
  Token,
  VPS: Vps,
  VPSBilling: VpsBilling,
  Webhook,
}

const ids = new Map<object, { id: string }>(Object.entries(named).map(([id, schema]) => [schema, { id }]))
/** The metadata of a shape: its description, and the name that it has here alone. */
const metadata = { get: (schema: z.ZodType) => ({ ...z.globalRegistry.get(schema), ...ids.get(schema) }) }

/** What JSON Schema calls our own codecs; a described one has the definition of the one that it was made of. */
const formats = new Map<object, string>([
  [Timestamp._zod.def, 'date-time'],
  [Usd._zod.def, 'decimal'],
  [UsdInput._zod.def, 'decimal'],
])

const PLACE = '#/components/schemas/'

/** A schema as JSON Schema (2020-12) of its wire form: what a client sends and receives. Named shapes are referred to. */
export function wireSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _dialect, $defs: _named, ...rest } = convert(schema)
  return rest
}

/** The named shapes themselves. */
export const namedSchemas = (): Record<string, unknown> =>
  convert(z.object(named)).$defs as Record<string, unknown>

function convert(schema: z.ZodType): Record<string, unknown> {
  const json = z.toJSONSchema(schema, {
    io: 'input',
    reused: 'inline',
    metadata: metadata as never,
    override({ zodSchema, jsonSchema }) {
      const format = formats.get(zodSchema._zod.def)
      if (format) jsonSchema.format = format
    },
  })
  return JSON.parse(JSON.stringify(json).replaceAll('"#/$defs/', `"${PLACE}`))
}
