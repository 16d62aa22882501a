import { operationList } from '@coinrack/contract/index.ts'
import { type Operation, toolName } from '@coinrack/contract/operation.ts'

/*
 * Requests that only the service that tends the machines can answer.
 */

const mayAnswer = ({ errors }: Operation, code: string) => (errors as readonly string[]).includes(code)

/** Whether it needs sandboxes, which one service has. */
export const needsSandboxes = (op: Operation) => mayAnswer(op, 'sandboxes_unavailable')

/** Whether it asks something inside a VPS, to which its host has the way. */
export const needsGuest = (op: Operation) => mayAnswer(op, 'guest_unreachable')

const toolsThat = (needs: (op: Operation) => boolean) =>
  new Set(
    operationList
      .filter(([, op]) => needs(op))
      .flatMap(([name, op]) => [toolName(name), ...(op.tools ?? [])] as string[]),
  )
const sandboxTools = toolsThat(needsSandboxes)
const guestTools = toolsThat(needsGuest)

interface ToolCall {
  method?: unknown
  params?: { name?: unknown; arguments?: { service_id?: unknown } }
}

/** Whether a message to the agent endpoint calls a tool that needs sandboxes. */
export const callsSandboxes = (body: unknown): boolean =>
  toolCalls(body).some(({ params }) => sandboxTools.has(String(params?.name)))

/** The VPS inside which a message to the agent endpoint asks something. */
export const guestsCalled = (body: unknown): string[] =>
  toolCalls(body)
    .filter(({ params }) => guestTools.has(String(params?.name)))
    .map(({ params }) => String(params?.arguments?.service_id))

function toolCalls(body: unknown): ToolCall[] {
  if (typeof body !== 'string') return []
  try {
    return ([JSON.parse(body)].flat() as (ToolCall | null)[]).flatMap((call) =>
      call?.method === 'tools/call' ? [call] : [],
    )
  } catch {
    return []
  }
}
