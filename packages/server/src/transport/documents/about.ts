/** How the service introduces itself: the same in every document and at the agent addresses. */
export const about = {
  /** Behind the host, it names the server in registries; as it is, the skill. */
  name: 'coinrack',
  title: 'Coinrack',
  /** At most 100 characters, as server.json and server cards take. */
  description: 'Virtual servers and code sandboxes for agents and developers, prepaid in stablecoins',
} as const
