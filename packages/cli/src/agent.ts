import type { OperationName, Operations } from '@coinrack/contract/index.ts'
import { type Operation, toolName } from '@coinrack/contract/operation.ts'
import type { ErrorBody } from '@coinrack/contract/wire.ts'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { z } from 'zod'

/** The answer of a tool, as it stands on the wire. */
type Answer<O extends Operation> = O['list'] extends true
  ? { items: z.input<O['output']>[]; next_cursor?: string }
  : z.input<O['output']>

/** An agent that speaks MCP, and was told nothing but the address of the tool endpoint. */
export interface Agent {
  /** The version of the protocol, as it was negotiated. */
  protocolVersion: string
  /** How many tools there are. */
  tools: number
  /** Presented with every later call, as the tools ask for it: in their input. */
  token: string | undefined
  /** @throws ToolError */
  call<N extends OperationName>(
    name: N,
    input: z.input<Operations[N]['input']>,
  ): Promise<Answer<Operations[N]>>
  close(): Promise<void>
}

/** A tool refused, in the words of the service. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
  readonly code: string

  constructor(tool: string, body: Partial<ErrorBody>) {
    super(`${tool}: ${body.message}\n  ${body.fix}`)
    this.code = String(body.code)
  }
}

/** Longer than any answer of the service takes. */
const TIMEOUT_MS = 90_000

/** Connects to a tool endpoint, as `https://vps.example.net/mcp`. */
export async function connectAgent(endpoint: string): Promise<Agent> {
  const client = new Client({ name: 'coinrack-demo', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(endpoint)))
  const { tools } = await client.listTools()
  const agent: Agent = {
    protocolVersion: client.getNegotiatedProtocolVersion() ?? 'unknown',
    tools: tools.length,
    token: undefined,
    async call(name, input) {
      const tool = toolName(name)
      const listed = tools.find((known) => known.name === tool)
      const accepted = listed?.inputSchema.properties ?? { access_token: {} }
      const credential = agent.token !== undefined &&
        'access_token' in accepted && { access_token: agent.token }
      const params = listed
        ? { name: tool, arguments: { ...input, ...credential } }
        : { name: 'call_operation', arguments: { name: tool, arguments: input, ...credential } }
      const result = await client.callTool(params, { timeout: TIMEOUT_MS })
      const [content] = result.content
      // An error stands in the text alone.
      if (result.isError) throw new ToolError(tool, content?.type === 'text' ? JSON.parse(content.text) : {})
      return result.structuredContent as never
    },
    close: () => client.close(),
  }
  return agent
}
