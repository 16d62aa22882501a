import { Account } from '@coinrack/contract/account.ts'
import { Plan } from '@coinrack/contract/catalog.ts'
import { Invoice } from '@coinrack/contract/invoices.ts'
import { Order } from '@coinrack/contract/orders.ts'
import { Sandbox } from '@coinrack/contract/sandboxes.ts'
import { Vps } from '@coinrack/contract/vps.ts'
import { z } from 'zod'

/** Shapes that stand in many answers: each is described once, by its name. */
const named = { Account, Invoice, Order, Plan, Sandbox, VPS: Vps }

const ids = new Map<object, { id: string }>(Object.entries(named).map(([id, schema]) => [schema, { id }]))
/** Of a shape: its description, and the name that it has here alone. */
const metadata = { get: (schema: z.ZodType) => ({ ...z.globalRegistry.get(schema), ...ids.get(schema) }) }

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
  const json = z.toJSONSchema(schema, { io: 'input', reused: 'inline', metadata: metadata as never })
  return JSON.parse(JSON.stringify(json).replaceAll('"#/$defs/', `"${PLACE}`))
}
