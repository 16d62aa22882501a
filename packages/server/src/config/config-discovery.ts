import type { Setting } from './config-settings.ts'
import * as values from './config-values.ts'

/** The settings by which others find this service. */
export const discoverySettings = {
  publicUrl: {
    name: 'COINRACK_PUBLIC_URL',
    doc: 'Where customers reach the service; every link is built from it. Production demands `https`.',
    schema: values.origin,
    otherwise: 'demo: `http://<host>:<port>`; production: must be set',
  },
  mcpRegistryAuth: {
    name: 'COINRACK_MCP_REGISTRY_AUTH',
    doc: 'Public key by which the MCP registry knows the owner of this host, as `v=MCPv1; k=ed25519; p=...`: served at `/.well-known/mcp-registry-auth`. See [Being found](operator/being-found.md).',
    schema: values.registryAuth,
    otherwise: 'nothing is served there',
  },
} as const satisfies Record<string, Setting>
