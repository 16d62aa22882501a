import { type OperationName, operations } from '@coinrack/contract/index.ts'
import type { Operation } from '@coinrack/contract/operation.ts'
import type { Subject } from '@coinrack/contract/subjects.ts'

/** One address of the agent endpoint. Every operation is callable by its name at each of them, listed or not. */
export interface McpAddress {
  /** Below the origin of the service. */
  path: `/mcp${string}`
  /** The operations in its list of tools. */
  lists(name: OperationName): boolean
  /** Tools take the token as the input `access_token` too, for clients whose headers an agent cannot change. */
  takesToken: boolean
  /**
   * Tools show examples and output schemas too, and stand under each of their names: for clients that search the list, so
   * that a model does not read it whole.
   */
  detailed: boolean
  /** Who lets an application in by OAuth lets it in here: it takes such grants, and no other token. */
  forGrants?: true
}

/** Lists the guide, and the operations of these subjects. */
const about = (...subjects: Subject[]): McpAddress['lists'] => {
  const listed: readonly Subject[] = ['Guide', ...subjects]
  return (name) => listed.includes(operations[name].subject)
}
const everyday: McpAddress['lists'] = (name) => (operations[name] as Operation).everyday === true

/** The addresses at which agents can connect: a list may not vary by who connects, so each has its own. */
export const mcpAddresses: readonly McpAddress[] = [
  { path: '/mcp', lists: everyday, takesToken: true, detailed: false },
  {
    path: '/mcp/connect',
    lists: (name) => everyday(name) && !(operations[name] as Operation).closedTo?.includes('grant'),
    takesToken: false,
    forGrants: true,
    detailed: false,
  },
  { path: '/mcp/all', lists: () => true, takesToken: true, detailed: true },
  { path: '/mcp/vps', lists: about('Catalog', 'VPS', 'Delegations'), takesToken: true, detailed: false },
  { path: '/mcp/sandboxes', lists: about('Sandboxes'), takesToken: true, detailed: false },
  {
    path: '/mcp/account',
    lists: about('Account', 'Balance', 'Events', 'Support'),
    takesToken: true,
    detailed: false,
  },
]
