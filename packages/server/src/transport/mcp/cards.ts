import type { OperationName } from '@coinrack/contract/index.ts'
import { approvalCard } from '@coinrack/web/approval/card.ts'
import { type ReadResourceResult, type Resource, ResourceNotFoundError } from '@modelcontextprotocol/server'

/** Hosts know a card by this type: MCP Apps (SEP-1865), specification 2026-01-26, "UI Resource Format". */
const CARD_TYPE = 'text/html;profile=mcp-app'

interface Card {
  uri: `ui://${string}`
  name: string
  description: string
  html: string
}

/** The operations whose call a host can show as a card, beside what its model reads. */
const cards: Partial<Record<OperationName, Card>> = {
  getApproval: {
    uri: 'ui://coinrack/approval.html',
    name: 'approval',
    description:
      'Shows what a person is asked to approve, and opens the page where the owner of the account decides.',
    html: approvalCard,
  },
}

/** What stands in a list of tools for hosts that show cards. */
export const cardMeta = (name: OperationName): { _meta?: { ui: { resourceUri: string } } } => {
  const card = cards[name]
  return card ? { _meta: { ui: { resourceUri: card.uri } } } : {}
}

/** The cards as a list of resources. */
export const cardList: Resource[] = Object.values(cards).map(({ html: _html, ...card }) => ({
  ...card,
  mimeType: CARD_TYPE,
}))

/** @throws ResourceNotFoundError */
export function readCard(uri: string): ReadResourceResult {
  const card = Object.values(cards).find((each) => each.uri === uri)
  if (!card) throw new ResourceNotFoundError(uri)
  // It loads nothing, so a host need not let it.
  return {
    contents: [
      { uri, mimeType: CARD_TYPE, text: card.html, _meta: { ui: { csp: {}, prefersBorder: true } } },
    ],
  }
}
