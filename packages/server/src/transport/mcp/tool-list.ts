import { operationList } from '@coinrack/contract/index.ts'
import { type Operation, resourceInput, toolName } from '@coinrack/contract/operation.ts'
import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { isFoundAlone } from '../../dispatch/only-one.ts'
import type { McpAddress } from './addresses.ts'

/** The fields that tools accept beside the input of their operation: get_started explains them, once. */
const TOKEN_FIELD = { access_token: { type: 'string' } }
const IDEMPOTENCY_FIELD = { idempotency_key: { type: 'string' } }
/** Said in the instructions, since every tool has them. */
const NEXT_STEPS = { type: 'array', items: { type: 'object' } }
const PAYMENT_TERMS = {
  x402Version: { type: 'integer' },
  accepts: { type: 'array', items: { type: 'object' } },
}

/**
 * The tools that an address lists, in the order of the contract, under each of their names.
 *
 * A model reads the list whole, so nothing is said twice in it: a thing is described by the read that answers it, and
 * wherever else it stands there is the name of that read.
 */
export const toolList = (at: McpAddress): Tool[] =>
  operationList.flatMap(([name, op]) => {
    if (!at.lists(name)) return []
    const tool = describeTool(toolName(name), op, at)
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

function describeTool(tool: string, op: Operation, { takesToken, showsOutput }: McpAddress): Tool {
  const input = withoutRepeating(tool, maySayLess(op, toolSchema(op.input)))
  return {
    name: tool,
    title: op.summary,
    description: op.description,
    inputSchema: {
      ...input,
      properties: {
        ...input.properties,
        ...(op.access === 'public' || !takesToken ? {} : TOKEN_FIELD),
        ...(op.method === 'GET' || (op.access === 'public' && !op.x402) ? {} : IDEMPOTENCY_FIELD),
      },
      examples: [op.example],
    },
    ...(showsOutput ? { outputSchema: outputOf(tool, op) } : {}),
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

/** What a tool answers: an object, also where REST answers an array. */
function outputOf(tool: string, op: Operation): ObjectSchema {
  const answer = toolSchema(op.output, op.method === 'GET' ? { tool } : { tool, silent: true })
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

/** The only VPS or sandbox of an account need not be named. */
function maySayLess({ resource }: Operation, { required = [], ...input }: ObjectSchema): ObjectSchema {
  const needed = isFoundAlone(resource)
    ? required.filter((name) => name !== resourceInput(resource))
    : required
  return { ...input, ...(needed.length > 0 && { required: needed }) }
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
