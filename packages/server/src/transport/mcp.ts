import { operationList } from '@coinrack/contract/index.ts'
import { type Operation, resourceInput, toolName } from '@coinrack/contract/operation.ts'
import type { NextStep } from '@coinrack/contract/wire.ts'
import {
  type CallToolResult,
  createMcpHandler,
  type McpHttpHandler,
  Server,
} from '@modelcontextprotocol/server'
import { type Answer, type Dispatch, RUNS_OUT } from '../dispatch/dispatch.ts'
import { errorBody, OperationError } from '../platform/errors.ts'
import { toolList } from './tool-list.ts'

const INSTRUCTIONS =
  'Virtual servers and code sandboxes, prepaid in stablecoins. Call get_started for the whole flow. Each answer has next_steps ({tool, why, arguments?}): follow them.'

/** The data that comes with an HTTP request to the tool endpoint. */
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
  const tools = toolList()

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
        idempotencyKey: idempotency_key ?? undefined,
        resourceId: tool.op.resource && input[resourceInput(tool.op.resource)],
        input: () => input,
        requestId: about.requestId,
        asTool: true,
        payment: params._meta?.['x402/payment'],
      })
      return toolResult(tool.op, input, answer)
    })
    return server
  })

  // The handler may read a copy of the request: what came with it goes along as its authentication.
  return (request, about) =>
    handler.fetch(request, { authInfo: { token: '', clientId: '', scopes: [], extra: { ...about } } })
}

const textOf = (value: unknown) => (value === undefined || value === null ? undefined : String(value))

function toolResult(
  op: Operation,
  input: Record<string, unknown>,
  { status, body, headers }: Answer,
): CallToolResult {
  if (status !== 200) return failure(body)
  const answer = {
    ...body,
    next_steps: [...(op.next?.(body, input) ?? []), ...lowBalance(headers[RUNS_OUT])],
  }
  return {
    content: [{ type: 'text', text: JSON.stringify(answer) }],
    structuredContent: answer,
    ...(body.settlement === undefined ? {} : { _meta: { 'x402/payment-response': body.settlement } }),
  }
}

const lowBalance = (runsOutAt: string | undefined): NextStep[] =>
  runsOutAt === undefined
    ? []
    : [
        {
          tool: 'topup_balance',
          why: `The balance is low: it covers the renewals until ${runsOutAt}; after that services are suspended`,
        },
      ]

function unknownTool(name: string, requestId: string): CallToolResult {
  const error = new OperationError('not_found', `There is no tool ${name.slice(0, 100)}`, {
    nextSteps: [{ tool: 'get_started', why: 'See what there is' }],
  })
  return failure(errorBody(error, requestId))
}

/**
 * An error stands in the text alone. Clients of the 1.x line check structured content against the output schema of the
 * tool even when it is an error, and hand their program nothing but the mismatch. The terms of x402 stand in both places,
 * as its MCP transport wants (specs/transports-v2/mcp.md of x402): the output schema of what can be paid has room for them.
 */
const failure = (body: Record<string, unknown>): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: JSON.stringify(body) }],
  ...(body.x402Version === undefined ? {} : { structuredContent: body }),
})
