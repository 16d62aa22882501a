import { operationList } from '@coinrack/contract/index.ts'
import { type Operation, toolName } from '@coinrack/contract/operation.ts'
import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'

/** The fields that every tool accepts beside the input of its operation. */
const CALL_FIELDS = {
  access_token: { type: 'string', description: 'Token, without an Authorization header' },
}
const IDEMPOTENCY_FIELD = {
  idempotency_key: { type: 'string', description: 'With the same key it runs once' },
}
/** Said in the instructions, since every tool has them. */
const NEXT_STEPS = { type: 'array', items: { type: 'object' } }
const PAYMENT_TERMS = {
  x402Version: { type: 'integer' },
  accepts: { type: 'array', items: { type: 'object' } },
}

/**
 * Every operation as a tool, in the order of the contract, under each of its names.
 *
 * A model reads the list whole, so nothing is said twice in it: a thing is described by the read that answers it, and
 * wherever else it stands there is the name of that read.
 */
export const toolList = (): Tool[] =>
  operationList.flatMap(([name, op]) => {
    const tool = describeTool(toolName(name), op)
    const { outputSchema: _same, ...rest } = tool
    const description = `Does the same as ${tool.name}.`
    return [tool, ...(op.tools ?? []).map((other) => ({ ...rest, name: other, description }))]
  })

/** Which read answers a thing: the one of it alone before the one of many. */
const readOf = new Map<z.core.$ZodType, string>()
for (const isList of [false, true]) {
  for (const [name, { method, list, output }] of operationList) {
    if (method === 'GET' && list === isList && !readOf.has(output)) readOf.set(output, toolName(name))
  }
}

function describeTool(tool: string, op: Operation): Tool {
  const input = withoutRepeating(tool, toolSchema(op.input))
  const answer = toolSchema(op.output, op.method === 'GET' ? { tool } : { tool, silent: true })
  const output: ObjectSchema = op.list
    ? {
        type: 'object',
        properties: { items: { type: 'array', items: answer }, next_cursor: { type: 'string' } },
        required: ['items'],
      }
    : answer
  return {
    name: tool,
    title: op.summary,
    description: op.description,
    inputSchema: {
      ...input,
      properties: {
        ...input.properties,
        ...(op.access === 'public' ? {} : CALL_FIELDS),
        ...(op.method === 'GET' || (op.access === 'public' && !op.x402) ? {} : IDEMPOTENCY_FIELD),
      },
      examples: [op.example],
    },
    outputSchema: op.x402
      ? orPaymentTerms(output)
      : { ...output, properties: { ...output.properties, next_steps: NEXT_STEPS } },
    annotations: {
      // For clients from before titles stood beside names.
      title: op.summary,
      readOnlyHint: op.effect === 'read',
      destructiveHint: op.effect === 'destructive',
      idempotentHint: op.idempotent,
      openWorldHint: op.effect === 'spend',
    },
  } as Tool
}

/** The inputs that a tool shares with the one that sells the same to accounts are described there. */
function withoutRepeating(tool: string, input: ObjectSchema): ObjectSchema {
  const [, same] =
    operationList.find(([, op]) => op.withoutAccount && toolName(op.withoutAccount) === tool) ?? []
  if (!same) return input
  const properties = Object.entries(input.properties as Record<string, Record<string, unknown>>)
  return {
    ...input,
    properties: Object.fromEntries(
      properties.map(([name, { description, ...rest }]) => [
        name,
        name in same.input.shape || description === undefined ? rest : { description, ...rest },
      ]),
    ),
  }
}

/** An answer, or what has to be paid for it: PaymentRequired of x402, which its clients read from structured content. */
const orPaymentTerms = ({ required, ...output }: ObjectSchema) => ({
  ...output,
  properties: { ...output.properties, ...PAYMENT_TERMS, next_steps: NEXT_STEPS },
  anyOf: [{ required }, { required: Object.keys(PAYMENT_TERMS) }],
})

interface ObjectSchema {
  type: 'object'
  properties?: Record<string, unknown>
  required?: string[]
}

/**
 * The wire form as a schema for tools, without what says nothing.
 * @param answered by which tool, when it is an answer: what another one reads is named, not described. Silent: types
 *   alone, for what a change shows is described by the reads
 */
function toolSchema(schema: z.ZodType, answered?: { tool: string; silent?: true }): ObjectSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    reused: 'inline',
    override({ zodSchema, jsonSchema }) {
      // The bounds of every integer in JavaScript.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (!answered) return
      if (answered.silent) delete jsonSchema.description
      const read = readOf.get(zodSchema)
      if (read === undefined || read === answered.tool) return
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
      Object.assign(jsonSchema, { type: 'object', description: `As from ${read}` })
    },
  })
  return rest as ObjectSchema
}
