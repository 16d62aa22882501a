import { operationList } from '@coinrack/contract/index.ts'
import { type Operation, toolName } from '@coinrack/contract/operation.ts'
import { z } from 'zod'

/** A JSON Schema of an object, as tools take and answer them. */
export interface ObjectSchema {
  type: 'object'
  properties?: Record<string, unknown>
  required?: string[]
}

/** Said in the instructions, since every tool has them. */
const NEXT_STEPS = { type: 'array', items: { type: 'object' } }
const PAYMENT_TERMS = {
  x402Version: { type: 'integer' },
  accepts: { type: 'array', items: { type: 'object' } },
}

/** Which read answers a thing: the one of it alone before the one of many. */
const readOf = new Map<z.core.$ZodType, string>()
for (const isList of [false, true]) {
  for (const [name, { method, list, output }] of operationList) {
    if (method === 'GET' && list === isList && !readOf.has(output)) readOf.set(output, toolName(name))
  }
}

/** Words of a schema that a model needs not know beforehand: a call that goes beyond them is told the field. */
const UNSAID = [
  'additionalProperties',
  'contentEncoding',
  'exclusiveMinimum',
  'format',
  'maxItems',
  'maxLength',
  'maximum',
  'minLength',
  'minimum',
  'pattern',
  'propertyNames',
] as const

/**
 * What a tool takes.
 * @param lean for a model that reads the list whole: the fields, without their parts and without limits that the service
 *   names when a call goes beyond them
 */
export const inputSchema = (op: Operation, { lean }: { lean: boolean }): ObjectSchema =>
  toolSchema(op.input, lean ? { also: makeLean } : {})

function makeLean(schema: z.core.JSONSchema.BaseSchema, path: readonly (string | number)[]): void {
  for (const word of UNSAID) delete schema[word]
  if (path.length > 1) {
    delete schema.properties
    delete schema.required
  }
  if (schema.default === false || typeof schema.default === 'object') delete schema.default
  if (schema.description?.startsWith('Identifier: ')) delete schema.description
  if (schema.anyOf?.every(isBareType)) {
    schema.type = schema.anyOf.map(({ type }) => type) as never
    delete schema.anyOf
  }
}

const isBareType = (schema: z.core.JSONSchema.BaseSchema) =>
  typeof schema.type === 'string' && Object.keys(schema).length === 1

/** What a tool answers: an object, also where REST answers an array. */
export function outputSchema(tool: string, op: Operation): ObjectSchema {
  const answer = toolSchema(op.output, { answeredBy: tool, silent: op.method !== 'GET' })
  const output: ObjectSchema = op.list
    ? {
        type: 'object',
        properties: { items: { type: 'array', items: answer }, next_cursor: { type: 'string' } },
        required: ['items'],
      }
    : answer
  return op.x402
    ? orPaymentTerms(output)
    : { ...output, properties: { ...output.properties, next_steps: NEXT_STEPS } }
}

/** An answer, or what has to be paid for it: PaymentRequired of x402, which its clients read from structured content. */
const orPaymentTerms = ({ required, ...output }: ObjectSchema) => ({
  ...output,
  properties: { ...output.properties, ...PAYMENT_TERMS, next_steps: NEXT_STEPS },
  anyOf: [{ required }, { required: Object.keys(PAYMENT_TERMS) }],
})

interface SchemaOptions {
  /** By which tool it is answered: what another one reads is named, not described. */
  answeredBy?: string
  /** Types alone: what a change shows is described by the reads. */
  silent?: boolean
  /** What else is changed in each part, from the inside out. */
  also?(schema: z.core.JSONSchema.BaseSchema, path: readonly (string | number)[]): void
}

/** The wire form as a schema for tools, without what says nothing. */
function toolSchema(schema: z.ZodType, { answeredBy, silent, also }: SchemaOptions = {}): ObjectSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    reused: 'inline',
    override({ zodSchema, jsonSchema, path }) {
      // The bounds of every integer in JavaScript.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      also?.(jsonSchema, path)
      if (answeredBy === undefined) return
      if (silent) delete jsonSchema.description
      const read = readOf.get(zodSchema)
      if (read === undefined || read === answeredBy) return
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
      Object.assign(jsonSchema, { type: 'object', description: `As from ${read}` })
    },
  })
  return rest as ObjectSchema
}
