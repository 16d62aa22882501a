import { basePath, operationList } from '@coinrack/contract/index.ts'
import { type Operation, toolName } from '@coinrack/contract/operation.ts'
import type { NextStep } from '@coinrack/contract/wire.ts'
import type { CallToolResult } from '@modelcontextprotocol/server'
import { type Answer, RUNS_OUT } from '../../dispatch/dispatch.ts'
import { TOOL_OUTPUT_BYTES } from '../../platform/fit-output.ts'
import type { McpAddress } from './addresses.ts'
import { fitItems, fitText, withoutMiddle } from './fit-text.ts'
import { takeMedia } from './tool-media.ts'
import { textOf } from './tool-text.ts'

const toolOf = new Map<Operation, string>(operationList.map(([name, op]) => [op, toolName(name)]))

/**
 * The answer of an operation as the result of a tool: a text for people and models, pictures and links to files as blocks,
 * and the data as structured content, see docs/decisions/0305-answers-for-models.md.
 * @param input as it was sent
 */
export function toolResult(
  op: Operation,
  input: Record<string, unknown>,
  { status, body, headers }: Answer,
  { detailed }: Pick<McpAddress, 'detailed'>,
): CallToolResult {
  if (status !== 200) return failure(body)
  const isOutput = op.shows === 'output'
  const { data, media } = takeMedia(body, input.path)
  const { page, more } = fitItems(op, data, { tool: toolOf.get(op)!, input })
  const steps = [...more, ...(op.next?.(page, input) ?? []), ...lowBalance(headers[RUNS_OUT])]
  const answer = { ...page, next_steps: steps }
  // Many clients show a model nothing but structured content, so where it is, the text and the pictures are not seen.
  const isStructured = !isOutput || detailed
  const text = isOutput
    ? textOf(isStructured ? withoutMiddle(answer) : answer)
    : fitText(textOf(answer), TOOL_OUTPUT_BYTES, wholeBy(op))
  return {
    content: [{ type: 'text', text }, ...media],
    ...(isStructured && { structuredContent: answer }),
    ...(body.settlement === undefined ? {} : { _meta: { 'x402/payment-response': body.settlement } }),
  }
}

/** Where an answer stands whole that is too long for a text. */
const wholeBy = ({ method, path }: Operation) =>
  method === 'GET'
    ? `all of it is in the structured content, and by REST at GET ${basePath}${path}`
    : 'all of it is in the structured content'

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
