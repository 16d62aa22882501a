import { formatUsd, parseUsd } from '@coinrack/contract/wire.ts'
import {
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
} from '@modelcontextprotocol/server'
import type { Answer } from '../../dispatch/dispatch.ts'

/** The key of the request to open the page, by which the client's answer to it comes back. */
const KEY = 'approval'
/** How long a call waits for the decision once the page was opened: nothing answers later than 50 s. */
export const DECISION_S = 45

/** The part of a request of a tool that says what its client can do, and what it has done. */
interface Asker {
  capabilities: ClientCapabilities | undefined
  /** With a call that is made again, after its client was asked for something. */
  responses: Record<string, unknown> | undefined
}

/**
 * What can be done about a call that a person has to approve, where the client opens pages for its user: URL elicitation,
 * within a call that is made again (SEP-2322, revision 2026-07-28). Earlier revisions say what a client can do at its
 * initialization alone, of which an endpoint without state knows nothing, so there the refusal stands.
 * @returns `ask`: let the client open the page; `wait`: it did, and asks again; undefined: the refusal stands
 */
export function nextOfApproval(
  { status, body }: Answer,
  { capabilities, responses }: Asker,
): { ask: InputRequiredResult } | { wait: string } | undefined {
  const isOpen = status === 403 && body.code === 'approval_needed' && body.approval_status === 'pending'
  if (!isOpen || !capabilities?.elicitation?.url) return undefined
  const opened = inputResponse(responses, KEY)
  if (opened.kind === 'elicit')
    return opened.action === 'accept' ? { wait: String(body.approval_id) } : undefined
  const price = formatUsd(parseUsd(String(body.price))!)
  return {
    ask: inputRequired({
      inputRequests: {
        [KEY]: inputRequired.elicitUrl({
          message: `${price} USD are to be spent: ${body.subject}. Open the page to approve or deny it, as the owner of the account.`,
          url: String(body.approval_url),
        }),
      },
    }),
  }
}
