import { operationList, operations } from '@coinrack/contract/index.ts'
import { resourceInput, toolName } from '@coinrack/contract/operation.ts'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import type { Dispatch } from '../../dispatch/dispatch.ts'
import type { McpAddress } from './addresses.ts'
import { cardList, readCard } from './cards.ts'
import { DECISION_S, nextOfApproval } from './open-approval.ts'
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
        capabilities: { tools: {}, resources: {} },
        instructions: INSTRUCTIONS,
        cacheHints: {
          'tools/list': KEPT,
          'server/discover': KEPT,
          'resources/list': KEPT,
          'resources/read': KEPT,
        },
      },
    )
    server.setRequestHandler('tools/list', () => ({ tools }))
    server.setRequestHandler('resources/list', () => ({ resources: cardList }))
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }))
    server.setRequestHandler('resources/read', ({ params }) => readCard(params.uri))
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const tool = callable.get(params.name)
      if (!tool) return unknownTool(params.name, about.requestId)
      const { access_token, idempotency_key, ...input } = params.arguments ?? {}
      const caller = {
        token: about.token ?? (at.takesToken ? textOf(access_token) : undefined),
        address: about.address,
        requestId: about.requestId,
        asTool: true,
        forGrants: at.forGrants === true,
      }
      const call = () =>
        dispatch(tool.name, {
          ...caller,
          idempotencyKey: idempotency_key ?? undefined,
          resourceId: tool.op.resource && input[resourceInput(tool.op.resource)],
          input: () => input,
          payment: params._meta?.['x402/payment'],
        })
      let answer = await call()
      const next = nextOfApproval(answer, {
        capabilities: server.getClientCapabilities(),
        responses: mcpReq.inputResponses,
      })
      if (next && 'ask' in next) return next.ask
      if (next) {
        await dispatch('getApproval', {
          ...caller,
          idempotencyKey: undefined,
          resourceId: next.wait,
          input: () => ({ approval_id: next.wait, wait: 'decided', timeout: DECISION_S }),
        })
        answer = await call()
      }
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
