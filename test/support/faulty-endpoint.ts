import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** The ways in which an endpoint gives no answer, or one that no client can take for true. */
export const failures = ['hangs', 'refuses', 'limits', 'babbles', 'malformed', 'huge'] as const
/** The ways in which an endpoint answers something false, or leaves something out. */
export const lies = [
  'freezes',
  'runs ahead',
  'promises',
  'drops logs',
  'doubles logs',
  'shifts logs',
  'reorders logs',
  'invents logs',
  'denies receipts',
] as const
export type Fault = (typeof failures)[number] | (typeof lies)[number]

interface Rpc {
  id: number
  method: string
  // biome-ignore lint/suspicious/noExplicitAny: parameters of JSON-RPC are whatever the method takes
  params: any[]
}
interface Log {
  transactionHash: string
  logIndex: string
  blockNumber: string
  data: string
  topics: string[]
}

const hex = (number: number) => `0x${number.toString(16)}`
const HUGE = 120 * 1024 * 1024

/**
 * An endpoint in front of a real node, that answers what the node does or what its fault makes of that.
 * @param chance numbers from 0 to 1
 * @param victim whose address is paid by the logs that it invents
 */
export async function faultyEndpoint(nodeUrl: string, chance: () => number, victim: () => string) {
  let fault: Fault | undefined
  /** The height at which it froze. */
  let frozenAt = 0
  const invented = new Map<string, { log: Log; blockHash: string }>()
  /** Happens before the n-th question from now. */
  let before: { questions: number; what: () => Promise<void> } | undefined
  const silent = new Set<ServerResponse>()

  // biome-ignore lint/suspicious/noExplicitAny: an answer of JSON-RPC is whatever the method answers
  const ask = async (method: string, params: unknown[]): Promise<any> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(nodeUrl, { method: 'POST', body, headers })
    return ((await answer.json()) as { result?: unknown }).result ?? null
  }
  const height = async () => Number(await ask('eth_blockNumber', []))

  /** The answer that is given in place of the truth. */
  async function answerOf({ method, params }: Rpc): Promise<unknown> {
    const truth = () => ask(method, params)
    const isBlock = method === 'eth_getBlockByNumber'
    if (fault === 'malformed') return isBlock ? { ...(await truth()), hash: '0xzz' } : 'no number at all'
    if (fault === 'freezes') {
      if (method === 'eth_blockNumber') return hex(frozenAt)
      if (isBlock && params[0] === 'latest') return ask(method, [hex(frozenAt), false])
      const block = await truth()
      if (isBlock && Number(block?.number ?? 0) > frozenAt) return null
      if (method === 'eth_getTransactionReceipt' && Number(block?.blockNumber ?? 0) > frozenAt) return null
      return block
    }
    if (fault === 'runs ahead' && (method === 'eth_blockNumber' || (isBlock && params[0] === 'latest'))) {
      const ahead = hex((await height()) + 500)
      if (!isBlock) return ahead
      return { ...(await truth()), number: ahead, hash: `0x${randomBytes(32).toString('hex')}` }
    }
    if (fault === 'promises' && isBlock && ['safe', 'finalized'].includes(params[0]))
      return ask(method, ['latest', false])
    if (fault === 'denies receipts' && method === 'eth_getTransactionReceipt') return null
    if (method === 'eth_getTransactionReceipt' && invented.has(params[0]) && fault === 'invents logs') {
      const { log } = invented.get(params[0])!
      return { ...log, status: '0x1', logs: [log] }
    }
    if (method !== 'eth_getLogs') return truth()

    const logs: Log[] = await truth()
    if (fault === 'drops logs') return logs.filter(() => chance() < 0.5)
    if (fault === 'doubles logs') return [...logs, ...logs]
    if (fault === 'reorders logs') return logs.toReversed()
    if (fault === 'shifts logs')
      return logs.map((log) => ({ ...log, logIndex: hex(Number(log.logIndex) + 3) }))
    if (fault !== 'invents logs' || !logs[0]) return logs
    const template = logs.at(-1)!
    const log = {
      ...template,
      transactionHash: `0x${randomBytes(32).toString('hex')}`,
      logIndex: hex(Number(template.logIndex) + 7),
      topics: [
        template.topics[0]!,
        template.topics[1]!,
        `0x${victim().slice(2).toLowerCase().padStart(64, '0')}`,
      ],
      data: `0x${(40_000_000).toString(16).padStart(64, '0')}`,
    }
    invented.set(log.transactionHash, { log, blockHash: '' })
    return [...logs, log]
  }

  const server = createServer(async (request, response) => {
    const rpc = JSON.parse(await text(request)) as Rpc
    if (before && --before.questions <= 0) {
      const { what } = before
      before = undefined
      await what()
    }
    if (fault === 'hangs') return void silent.add(response)
    if (fault === 'refuses') return response.writeHead(503).end('overloaded')
    if (fault === 'limits') return response.writeHead(429).end('too many requests')
    if (fault === 'babbles') return response.end('<html>')
    response.setHeader('content-type', 'application/json')
    if (fault === 'huge' && rpc.method === 'eth_getLogs') {
      response.write('{"jsonrpc":"2.0","result":["')
      return response.end(Buffer.alloc(HUGE, 'a'))
    }
    const result = await answerOf(rpc).catch(() => null)
    response.end(JSON.stringify({ jsonrpc: '2.0', id: rpc.id, result }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** From now on; undefined: it is honest. */
    async become(next: Fault | undefined): Promise<void> {
      if (next === 'freezes') frozenAt = await height()
      fault = next
      for (const response of silent) response.destroy()
      silent.clear()
    },
    fault: () => fault,
    /** Does something in the middle of a look: before the n-th question from now. */
    interrupt(questions: number, what: () => Promise<void>): void {
      before = { questions, what }
    },
    async close(): Promise<void> {
      await this.become(undefined)
      server.closeAllConnections()
      server.close()
    },
  }
}
