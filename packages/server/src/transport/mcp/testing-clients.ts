import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMCPClient } from '@ai-sdk/mcp'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { MCPServerStreamableHttp } from '@openai/agents-core'
import type { ToolResult } from './testing-mcp.ts'

/** A client program, connected. */
export interface ClientProgram {
  /** The names of the tools that it shows a model. */
  tools(): Promise<string[]>
  call(name: string, input: Record<string, unknown>): Promise<ToolResult>
  close(): Promise<unknown>
}

type Connect = (endpoint: string, token?: string) => Promise<ClientProgram>

const authorization = (token?: string): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` }

/** The AI SDK of Vercel: tools as its models are given them. */
const aiSdk: Connect = async (url, token) => {
  const client = await createMCPClient({ transport: { type: 'http', url, headers: authorization(token) } })
  const tools = await client.tools()
  return {
    tools: async () => Object.keys(tools),
    call: async (name, input) =>
      (await tools[name]!.execute(input, {
        toolCallId: name,
        messages: [],
        context: {},
      } as never)) as ToolResult,
    close: () => client.close(),
  }
}

/** The Agents SDK of OpenAI. */
const openAiAgents: Connect = async (url, token) => {
  const server = new MCPServerStreamableHttp({
    url,
    name: 'coinrack',
    requestInit: { headers: authorization(token) },
  })
  await server.connect()
  return {
    tools: async () => (await server.listTools()).map(({ name }) => name),
    call: async (name, input) => (await server.callToolResult(name, input)) as ToolResult,
    close: () => server.close(),
  }
}

/** mcp-remote, the bridge for programs that start their servers and speak to them over standard input and output. */
const mcpRemote: Connect = async (url, token) => {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-mcp-remote-'))
  const program = createRequire(import.meta.url)
    .resolve('mcp-remote/package.json')
    .replace(/package\.json$/, 'dist/proxy.js')
  const headers = Object.entries(authorization(token)).flatMap(([name, value]) => [
    '--header',
    `${name}:${value}`,
  ])
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, url, '--allow-http', '--transport', 'http-only', ...headers],
      env: { PATH: process.env.PATH!, HOME: folder, MCP_REMOTE_CONFIG_DIR: folder },
      stderr: 'ignore',
    }),
  )
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, input) => (await client.callTool({ name, arguments: input })) as ToolResult,
    async close() {
      await client.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Client programs from npm, none of which knows anything of this service. */
export const clientPrograms: Record<string, Connect> = {
  '@ai-sdk/mcp': aiSdk,
  '@openai/agents': openAiAgents,
  'mcp-remote': mcpRemote,
}
