import { operationList } from '@coinrack/contract/index.ts'
import { type Operation, resourceInput, toolName } from '@coinrack/contract/operation.ts'
import {
  type CallToolResult,
  createMcpHandler,
  type McpHttpHandler,
  Server,
  type Tool,
} from '@modelcontextprotocol/server'
import type { z } from 'zod'
import type { Answer, Dispatch } from '../dispatch.ts'
import { errorBody, OperationError } from '../errors.ts'
import { wireSchema } from './wire-schema.ts'

/** What every tool accepts beside the input of its operation. */
const CALL_FIELDS = {
  access_token: {
    type: 'string',
    description: 'Token, without an Authorization header',
  },
}
const IDEMPOTENCY_FIELD = {
  idempotency_key: { type: 'string', description: 'Repeat a call with the same key and it runs once' },
}
/** Said in a few words, since every tool says it. */
const NEXT_STEPS = { type: 'array', items: { type: 'object' }, description: '{tool, why, arguments?}' }

const INSTRUCTIONS =
  'Virtual servers, prepaid in stablecoins. Call get_started for the whole flow. Each answer has next_steps: follow them.'

/** What comes with an HTTP request to the tool endpoint. */
export interface McpRequest {
  token: string | undefined
  address: string
  requestId: string
}

/** Serves one HTTP request of the tool endpoint. */
export type ServeMcp = (request: Request, about: McpRequest) => Promise<Response>

/**
 * The agent endpoint: every operation is a tool. Streamable HTTP without state, so that any replica
 * answers any request; the list of tools is built once.
 */
export function createMcp(dispatch: Dispatch, version: string): ServeMcp {
  const offered = operationList.flatMap(([name, op]) =>
    [toolName(name), ...(op.tools ?? [])].map((tool) => ({ tool, name, op })),
  )
  const names = new Map(offered.map(({ tool, ...called }) => [tool, called]))
  // Under its other names a tool is not described as widely: the list has to be read whole.
  const tools = operationList.flatMap(([name, op]) => {
    const tool = describeTool(toolName(name), op)
    const { outputSchema: _same, ...rest } = tool
    const description = `The same as ${tool.name}.`
    return [tool, ...(op.tools ?? []).map((other) => ({ ...rest, name: other, description }))]
  })

  const handler: McpHttpHandler = createMcpHandler(({ authInfo }) => {
    const about = authInfo?.extra as unknown as McpRequest
    const server = new Server(
      { name: 'coinrack', version },
      { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
    )
    server.setRequestHandler('tools/list', () => ({ tools }))
    server.setRequestHandler('tools/call', async ({ params }) => {
      const tool = names.get(params.name)
      if (!tool) return unknownTool(params.name, about.requestId)
      const { access_token, idempotency_key, ...input } = params.arguments ?? {}
      const answer = await dispatch(tool.name, {
        token: about.token ?? textOf(access_token),
        address: about.address,
        idempotencyKey: textOf(idempotency_key),
        resourceId: tool.op.resource && input[resourceInput(tool.op.resource)],
        input: () => input,
        requestId: about.requestId,
        asTool: true,
      })
      return toolResult(tool.op, answer)
    })
    return server
  })

  // The handler may read a copy of the request: what came with it goes along as its authentication.
  return (request, about) =>
    handler.fetch(request, { authInfo: { token: '', clientId: '', scopes: [], extra: { ...about } } })
}

const textOf = (value: unknown) => (value === undefined || value === null ? undefined : String(value))

function describeTool(tool: string, op: Operation): Tool {
  const input = objectSchema(op.input)
  const output = op.list
    ? {
        type: 'object',
        properties: {
          items: { type: 'array', items: wireSchema(op.output) },
          next_cursor: { type: 'string' },
        },
        required: ['items'],
      }
    : objectSchema(op.output)
  // What a change shows is described by the reads.
  const shown = op.method === 'GET' ? output : (withoutWords(output) as typeof output)
  return {
    name: tool,
    title: op.summary,
    description: op.description,
    inputSchema: {
      ...input,
      properties: {
        ...input.properties,
        ...(op.access === 'public' ? {} : CALL_FIELDS),
        ...(op.access === 'public' || op.method === 'GET' ? {} : IDEMPOTENCY_FIELD),
      },
      examples: [op.example],
    },
    outputSchema: {
      ...shown,
      properties: { ...shown.properties, next_steps: NEXT_STEPS },
      additionalProperties: true,
    },
    annotations: {
      title: op.summary,
      readOnlyHint: op.effect === 'read',
      destructiveHint: op.effect === 'destructive',
      idempotentHint: op.idempotent,
      openWorldHint: op.effect === 'spend',
    },
  } as Tool
}

/** The schema without its descriptions: types alone. A property that is called so stays. */
function withoutWords(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutWords)
  if (typeof schema !== 'object' || schema === null) return schema
  const kept = Object.entries(schema).filter(
    ([key, value]) => key !== 'description' || typeof value !== 'string',
  )
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutWords(value)]))
}

interface ObjectSchema {
  type: 'object'
  properties: Record<string, unknown>
  required?: string[]
}

const objectSchema = (schema: z.ZodType) => wireSchema(schema) as unknown as ObjectSchema

/** An error stands in the text alone: structured content is what the output schema describes. */
function toolResult(op: Operation, { status, body }: Answer): CallToolResult {
  if (status !== 200) return failure(body)
  const answer = { ...body, next_steps: op.next?.(body) ?? [] }
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer }
}

function unknownTool(name: string, requestId: string): CallToolResult {
  const error = new OperationError('not_found', `There is no tool ${name.slice(0, 100)}`, {
    nextSteps: [{ tool: 'get_started', why: 'See what there is' }],
  })
  return failure(errorBody(error, requestId))
}

const failure = (body: Record<string, unknown>): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: JSON.stringify(body) }],
  structuredContent: body,
})
