import { isIP } from 'node:net'
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import type { Config } from '../../config/config.ts'
import { version } from '../../platform/version.ts'
import { type McpAddress, mcpAddresses } from '../mcp/addresses.ts'
import { about } from './about.ts'

/** The revisions of the protocol that every agent address speaks, the newest first. */
export const protocolVersions = ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS]

/**
 * The name of this server among all others: the host backwards, and what it is. Who can prove the host may publish it.
 * @param publicUrl as `https://rack.example.net`, which gives `net.example.rack/coinrack`
 */
export function serverName(publicUrl: string): string {
  const host = new URL(publicUrl).hostname
  const namespace = isIP(host.replace(/^\[|\]$/g, ''))
    ? host.replace(/[^0-9a-f]+/gi, '-').replace(/^-|-$/g, '')
    : host.split('.').reverse().join('.')
  return `${namespace}/${about.name}`
}

/**
 * The entry of this server for the MCP registry, as its publisher's tool sends it (server.json of 2025-12-11):
 * https://github.com/modelcontextprotocol/registry/tree/main/docs/reference/server-json
 */
export const serverJson = ({ publicUrl }: Config) => ({
  $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  ...identity(publicUrl),
  remotes: mcpAddresses.map((at) => remote(publicUrl, at)),
})

/**
 * The server card: how to connect, before a connection (SEP-2127).
 * https://github.com/modelcontextprotocol/experimental-ext-server-card
 */
export const serverCard = ({ publicUrl }: Config) => ({
  $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
  ...identity(publicUrl),
  remotes: mcpAddresses.map((at) => ({
    ...remote(publicUrl, at),
    supportedProtocolVersions: protocolVersions,
  })),
})

/** The short note at `/.well-known/mcp.json` for clients that look no further. */
export const mcpJson = ({ publicUrl }: Config) => ({
  name: about.name,
  description: about.description,
  url: publicUrl + mcpAddresses[0]!.path,
  transport: 'streamable-http',
})

/** How the server introduces itself to a client that connects. */
export const implementation = ({ publicUrl }: Pick<Config, 'publicUrl'>) => ({
  ...about,
  version,
  websiteUrl: `${publicUrl}/docs`,
})

const identity = (publicUrl: string) => ({ ...implementation({ publicUrl }), name: serverName(publicUrl) })

const remote = (publicUrl: string, { path, takesToken }: McpAddress) => ({
  type: 'streamable-http',
  url: publicUrl + path,
  ...(takesToken ? { headers: [AUTHORIZATION] } : {}),
})

const AUTHORIZATION = {
  name: 'Authorization',
  description:
    'Bearer and a token of an account. Without it, register_account makes an account, and tools take the token as access_token',
  isRequired: false,
  isSecret: true,
  placeholder: 'Bearer crk_...',
}
