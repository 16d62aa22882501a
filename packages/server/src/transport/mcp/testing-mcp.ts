import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as ClientOf1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportOf1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

/** A result of a tool as the client hands it to its program. */
export interface ToolResult {
  isError?: boolean
  content: { type: string; text?: string }[]
  structuredContent?: Record<string, unknown>
  _meta?: Record<string, unknown>
}

/** A client that is connected, and has read the list of tools as agents do before their first call. */
export interface ConnectedClient {
  callTool(params: {
    name: string
    arguments?: Record<string, unknown>
    _meta?: Record<string, unknown>
  }): Promise<ToolResult>
  close(): Promise<void>
}

type Connect = (endpoint: URL) => Promise<ConnectedClient>

const about = { name: 'test', version: '1' }

const connectOf2 =
  (options: ConstructorParameters<typeof Client>[1]): Connect =>
  async (endpoint) => {
    const client = new Client(about, options)
    await client.connect(new StreamableHTTPClientTransport(endpoint))
    await client.listTools()
    return client as unknown as ConnectedClient
  }

/** The official clients over Streamable HTTP: the line 1.x, and 2.x in both of its eras. */
export const mcpClients: [string, Connect][] = [
  [
    'the client 1.x',
    async (endpoint) => {
      const client = new ClientOf1(about)
      await client.connect(new TransportOf1(endpoint))
      // It keeps the output schemas of the list, and checks results against them.
      await client.listTools()
      return client as unknown as ConnectedClient
    },
  ],
  ['the client 2.x by the handshake of 2025', connectOf2({})],
  ['the client 2.x by 2026-07-28', connectOf2({ versionNegotiation: { mode: 'auto' } })],
]

/** The command line of the official inspector, as its launcher calls it: once for each call, in one process. */
const INSPECT = `
  const { runCli } = await import(process.argv[2])
  for (const words of JSON.parse(process.argv[1])) {
    const exitCode = await runCli(['node', 'inspector', ...words]).then(() => 0, (error) => error.exitCode ?? error.message)
    console.log(JSON.stringify({ exitCode }))
  }
`
const inspector = createRequire(import.meta.url)
  .resolve('@modelcontextprotocol/inspector/package.json')
  .replace(/package\.json$/, 'clients/cli/build/index.js')

/**
 * Calls tools by the official inspector's command line.
 * @returns for each call its exit code, which is 0 only without an error, and the result that it printed, if any
 */
export async function inspect(endpoint: URL, calls: { name: string; input: Record<string, unknown> }[]) {
  const lines = calls.map(({ name, input }) => [
    ...['--server-url', endpoint.href, '--transport', 'http', '--format', 'json', '--quiet'],
    ...['--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(input)],
  ])
  const script = ['--input-type=module', '--eval', INSPECT, JSON.stringify(lines), inspector]
  const { stdout } = await promisify(execFile)(process.execPath, script)
  const found: { exitCode: number | string; result?: ToolResult }[] = []
  let result: ToolResult | undefined
  for (const line of stdout.trim().split('\n')) {
    const told = JSON.parse(line)
    if ('result' in told) result = told.result
    else {
      found.push({ exitCode: told.exitCode, ...(result && { result }) })
      result = undefined
    }
  }
  return found
}
