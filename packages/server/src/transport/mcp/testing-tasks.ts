import { TASKS } from './tasks.ts'

/** The answer to a JSON-RPC request. */
export interface RpcReply {
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at any part of it
  result?: any
  error?: { code: number; message: string; data?: unknown }
}

/**
 * A client of the revision 2026-07-28 by hand, which takes tasks unless told otherwise.
 * @param endpoint an agent address
 */
export function rpcClient(endpoint: string, token?: string, { takesTasks = true } = {}) {
  let id = 0
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'by hand', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': takesTasks ? { extensions: { [TASKS]: {} } } : {},
  }
  /** @param signal hangs up */
  async function send(method: string, params: Record<string, unknown>, signal?: AbortSignal) {
    const name = params.taskId ?? params.name
    return fetch(endpoint, {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(name === undefined ? {} : { 'mcp-name': String(name) }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params: { _meta, ...params } }),
      ...(signal && { signal }),
    })
  }
  async function ask(method: string, params: Record<string, unknown> = {}): Promise<RpcReply> {
    const text = await (await send(method, params)).text()
    const lines = text.split('\n').filter((line) => line.startsWith('data: '))
    return JSON.parse(lines.at(-1)?.slice('data: '.length) ?? text)
  }
  return {
    send,
    ask,
    call: (name: string, input: Record<string, unknown> = {}) =>
      ask('tools/call', { name, arguments: input }),
    get: (taskId: string) => ask('tasks/get', { taskId }),
    cancel: (taskId: string) => ask('tasks/cancel', { taskId }),
  }
}

export type RpcClient = ReturnType<typeof rpcClient>
