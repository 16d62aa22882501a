import { operationList, operations } from '@coinrack/contract/index.ts'
import { resourceInput, toolName } from '@coinrack/contract/operation.ts'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import type { Dispatch } from '../../dispatch/dispatch.ts'
import type { McpAddress } from './addresses.ts'
import { toolList } from './tool-list.ts'
import { toolResult } from './tool-result.ts'
import { unknownTool } from './unknown-tool.ts'

const INSTRUCTIONS =
  'Virtual servers and code sandboxes, prepaid in stablecoins. Call get_started for the whole flow. Each answer has next_steps ({tool, why, arguments?}): follow them.'
/** A list changes with the software alone, and is the same for every caller (SEP-2549). */
const KEPT = { ttlMs: 3_600_000, cacheScope: 'public' } as const

/** The data that comes with an HTTP request to an agent address. */
export interface McpRequest {
  token: string | undefined
  address: string
  requestId: string
}

/** Serves one HTTP request of an agent address. */
export type ServeMcp = (request: Request, about: McpRequest) => Promise<Response>

/** Every operation by each of its names as a tool. */
const callable = new Map(
  operationList.flatMap(([name, op]) =>
    [toolName(name), ...(op.tools ?? [])].map((tool) => [tool, { name, op }] as const),
  ),
)

/**
 * One address of the agent endpoint. Streamable HTTP without state, so that any replica answers any request; its list of
 * tools is built once.
 */
export function createMcp(at: McpAddress, dispatch: Dispatch, version: string): ServeMcp {
  const tools = toolList(at)
  const handler = createMcpHandler(({ authInfo }) => {
    const about = authInfo?.extra as unknown as McpRequest
    const server = new Server(
      { name: 'coinrack', version },
      {
        capabilities: { tools: {} },
        instructions: INSTRUCTIONS,
        cacheHints: { 'tools/list': KEPT, 'server/discover': KEPT },
      },
    )
    server.setRequestHandler('tools/list', () => ({ tools }))
    server.setRequestHandler('tools/call', async ({ params }) => {
      const tool = callable.get(params.name)
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
      const { answered } = answer
      return answered
        ? toolResult(operations[answered.name], answered.input, answer, at)
        : toolResult(tool.op, input, answer, at)
    })
    return server
  })

  // The handler may read a copy of the request: what came with it goes along as its authentication.
  return (request, about) =>
    handler.fetch(request, { authInfo: { token: '', clientId: '', scopes: [], extra: { ...about } } })
}

const textOf = (value: unknown) => (value === undefined || value === null ? undefined : String(value))
