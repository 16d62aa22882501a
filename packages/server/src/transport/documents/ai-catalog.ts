import type { Config } from '../../config/config.ts'
import { mcpAddresses } from '../mcp/addresses.ts'
import { about } from './about.ts'
import { skillPaths } from './skill.ts'

/** The media types of what the catalog lists, and its own. */
export const mediaTypes = {
  catalog: 'application/ai-catalog+json',
  serverCard: 'application/mcp-server-card+json',
  skill: 'application/agent-skills+md',
} as const

/** Where a client that knows the address of a server looks for its card (SEP-2127). */
export const serverCardPath = `${mcpAddresses[0]!.path}/server-card`

/**
 * All that an agent can use at this host: the server's card, and the skill of using it.
 * https://github.com/Agent-Card/ai-catalog
 */
export function aiCatalog({ publicUrl }: Config) {
  const { hostname, host } = new URL(publicUrl)
  const identifier = (kind: string) => `urn:air:${hostname.replace(/[[\]:]/g, '-')}:${kind}:${about.name}`
  return {
    specVersion: '1.0',
    host: { displayName: `${about.title} at ${host}`, documentationUrl: `${publicUrl}/docs` },
    entries: [
      { identifier: identifier('mcp'), type: mediaTypes.serverCard, url: publicUrl + serverCardPath },
      {
        identifier: identifier('skill'),
        type: mediaTypes.skill,
        displayName: about.title,
        url: publicUrl + skillPaths[1],
      },
    ],
  }
}
