import type { Operation } from '@coinrack/contract/operation.ts'
import type { NextStep } from '@coinrack/contract/wire.ts'
import type { CallToolResult } from '@modelcontextprotocol/server'
import { type Answer, RUNS_OUT } from '../../dispatch/dispatch.ts'

/**
 * The answer of an operation as the result of a tool.
 * @param input as it was sent
 */
export function toolResult(
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

/**
 * An error stands in the text alone. Clients of the 1.x line check structured content against the output schema of the
 * tool even when it is an error, and hand their program nothing but the mismatch. The terms of x402 stand in both places,
 * as its MCP transport wants (specs/transports-v2/mcp.md of x402): the output schema of what can be paid has room for them.
 */
export const failure = (body: Record<string, unknown>): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: JSON.stringify(body) }],
  ...(body.x402Version === undefined ? {} : { structuredContent: body }),
})
