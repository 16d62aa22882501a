import { type OperationName, operationList } from '@coinrack/contract/index.ts'
import { type Operation, resourceInput, toolName } from '@coinrack/contract/operation.ts'
import type { Tool } from '@modelcontextprotocol/server'
import { isFoundAlone } from '../../dispatch/only-one.ts'
import type { McpAddress } from './addresses.ts'
import { cardMeta } from './cards.ts'
import { inputSchema, type ObjectSchema, outputSchema } from './tool-schema.ts'

/** The fields that tools take beside the input of their operation: get_started explains them, once. */
const TOKEN_FIELD = { access_token: { type: 'string' } }
const IDEMPOTENCY_FIELD = { idempotency_key: { type: 'string' } }

/**
 * The tools that an address lists, in the order of the contract.
 *
 * A model reads the list whole, so nothing is said twice in it: a thing is described by the read that answers it, and
 * wherever else it stands there is the name of that read.
 */
export const toolList = (at: McpAddress): Tool[] =>
  operationList.flatMap(([name, op]) => {
    if (!at.lists(name)) return []
    const tool = describeTool(name, op, at)
    if (!at.detailed) return [tool]
    const { outputSchema: _same, ...rest } = tool
    const description = `Does the same as ${tool.name}.`
    return [tool, ...(op.tools ?? []).map((other) => ({ ...rest, name: other, description }))]
  })

function describeTool(name: OperationName, op: Operation, { takesToken, detailed }: McpAddress): Tool {
  const tool = toolName(name)
  const input = withoutRepeating(tool, maySayLess(op, inputSchema(op, { lean: !detailed })))
  return {
    name: tool,
    title: op.summary,
    description: asTool(op.description),
    inputSchema: {
      ...input,
      properties: {
        ...input.properties,
        ...(op.access === 'public' || !takesToken ? {} : TOKEN_FIELD),
        ...(op.method === 'GET' || (op.access === 'public' && !op.x402) ? {} : IDEMPOTENCY_FIELD),
      },
      ...(detailed ? { examples: [op.example] } : {}),
    },
    ...(detailed ? { outputSchema: outputSchema(tool, op) } : {}),
    annotations: {
      // For clients from before titles stood beside names.
      title: op.summary,
      readOnlyHint: op.effect === 'read',
      destructiveHint: op.effect === 'destructive',
      idempotentHint: op.idempotent,
      openWorldHint: op.effect === 'spend',
    },
    ...cardMeta(name),
  } as Tool
}

/** A description without its sentences about REST. */
const asTool = (description: string) => description.replaceAll(/ By REST [^.]*\.(?= |$)/g, '')

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
