import { type OperationName, operationList, operations } from '@coinrack/contract/index.ts'
import { resourceInput, toolName } from '@coinrack/contract/operation.ts'
import {
  type CallToolResult,
  createMcpHandler,
  type Implementation,
  Server,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { namedCall } from '../../dispatch/call-by-name.ts'
import type { Cancellations } from '../../dispatch/cancellations.ts'
import type { Dispatch } from '../../dispatch/dispatch.ts'
import type { McpAddress } from './addresses.ts'
import { cardList, readCard } from './cards.ts'
import { DECISION_S, nextOfApproval } from './open-approval.ts'
import { tellProgress } from './progress.ts'
import { type Ask, asTask, type createTasks, demandTasks, TASKS, takesTasks } from './tasks.ts'
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
  /** The name that the client program gives itself. */
  program: string
}

/** The parts of the service that stand behind every address. */
export interface McpParts {
  dispatch: Dispatch
  tasks: ReturnType<typeof createTasks>
  cancellations: Cancellations
  /** How the server introduces itself. */
  identity: Implementation
}

const TaskParams = z.looseObject({ taskId: z.string().max(8_192) })

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
export function createMcp(at: McpAddress, parts: McpParts): ServeMcp {
  const { dispatch, tasks, cancellations, identity } = parts
  const tools = toolList(at)
  const handler = createMcpHandler(({ authInfo }) => {
    const about = authInfo?.extra as unknown as McpRequest
    const server = new Server(identity, {
      capabilities: { tools: {}, resources: {}, extensions: { [TASKS]: {} } },
      instructions: INSTRUCTIONS,
      cacheHints: {
        'tools/list': KEPT,
        'server/discover': KEPT,
        'resources/list': KEPT,
        'resources/read': KEPT,
      },
    })
    server.setRequestHandler('tools/list', () => ({ tools }))
    server.setRequestHandler('resources/list', () => ({ resources: cardList }))
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }))
    server.setRequestHandler('resources/read', ({ params }) => readCard(params.uri))
    const ask: Ask = (name, call) =>
      dispatch(name, {
        token: about.token,
        address: about.address,
        idempotencyKey: undefined,
        requestId: about.requestId,
        asTool: true,
        forGrants: at.forGrants === true,
        ...call,
      })
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const tool = callable.get(params.name)
      if (!tool) return unknownTool(params.name, about.requestId)
      const { access_token, idempotency_key, ...input } = params.arguments ?? {}
      const { id, signal } = context.mcpReq
      // A task is asked for without arguments, so its client has to have the token in a header.
      const isTasked = about.token !== undefined && takesTasks(context)
      const named = tool.name === 'callOperation' ? namedCall(input, true) : undefined
      const meant = named ?? { name: tool.name, input }
      const tasked = isTasked ? asTask(meant.name, meant.input) : { input: meant.input }
      const sent = named
        ? { ...input, arguments: { ...(input.arguments as object | undefined), ...tasked.input } }
        : tasked.input
      const flight = about.token === undefined ? undefined : cancellations.begin(callOf(about, id))
      const endProgress = tellProgress(context, tasked.input)
      try {
        const token = about.token ?? (at.takesToken ? textOf(access_token) : undefined)
        const call = () =>
          ask(tool.name, {
            token,
            idempotencyKey: idempotency_key ?? undefined,
            resourceId: tool.op.resource && input[resourceInput(tool.op.resource)],
            payment: params._meta?.['x402/payment'],
            hungUp: signal,
            ...(flight && { cancelled: flight.cancelled }),
            ...tasked,
            input: () => sent,
          })
        let answer = await call()
        const next = nextOfApproval(answer, {
          capabilities: server.getClientCapabilities(),
          responses: context.mcpReq.inputResponses,
        })
        if (next && 'ask' in next) return next.ask
        if (next) {
          const waiting = { approval_id: next.wait, wait: 'decided', timeout: DECISION_S }
          await ask('getApproval', { token, resourceId: next.wait, hungUp: signal, input: () => waiting })
          answer = await call()
        }
        if (!isTasked) return toolResult(operations[meant.name], meant.input, answer, at)
        const gone = AbortSignal.any([signal, ...(flight ? [flight.cancelled] : [])])
        return (await tasks.resultOf(ask, meant, answer, gone)) as CallToolResult
      } finally {
        endProgress()
        flight?.end()
      }
    })
    for (const method of ['get', 'update', 'cancel'] as const) {
      server.setRequestHandler(`tasks/${method}`, { params: TaskParams }, ({ taskId }, context) => {
        demandTasks(context)
        return tasks[method](ask, taskId)
      })
    }
    // Before 2026-07-28 a client says so in a request of its own; since then it hangs up.
    server.setNotificationHandler('notifications/cancelled', async ({ params }) => {
      if (about.token === undefined || params.requestId === undefined) return
      const { status } = await ask('whoami' satisfies OperationName, {
        resourceId: undefined,
        input: () => ({}),
      })
      if (status === 200) await cancellations.cancel(callOf(about, params.requestId))
    })
    return server
  })

  // The handler may read a copy of the request: what came with it goes along as its authentication.
  return (request, about) =>
    handler.fetch(request, { authInfo: { token: '', clientId: '', scopes: [], extra: { ...about } } })
}

const callOf = ({ token, address, program }: McpRequest, id: string | number) => ({
  token: token ?? '',
  address,
  program,
  id,
})

const textOf = (value: unknown) => (value === undefined || value === null ? undefined : String(value))
