import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/*
 * A JSON-RPC server on loopback that answers `eth_getLogs` from memory, in a process of its own. Its logs are those of a
 * real node, word by word, but for their places in the chain and their recipients. Told on standard input:
 * `{ sample, chainId, blocks, perBlock, recipients }`; says its port on standard output.
 */

interface Replay {
  /** A log as a node writes it. */
  sample: Record<string, unknown>
  chainId: number
  blocks: number
  perBlock: number
  /** The recipient of each log in turn; lower-case. */
  recipients: string[]
}

const { sample, chainId, blocks, perBlock, recipients }: Replay = JSON.parse(await text(process.stdin))
const hex = (number: number) => `0x${number.toString(16)}`
const word = (number: number, kind: string) => `0x${kind}${number.toString(16).padStart(62, '0')}`

const answers = Array.from({ length: blocks }, (_, block) => {
  const logs = Array.from({ length: perBlock }, (_log, index) => {
    const count = block * perBlock + index
    const to = `0x${recipients[count % recipients.length]!.slice(2).padStart(64, '0')}`
    return JSON.stringify({
      ...sample,
      topics: [...(sample.topics as string[]).slice(0, 2), to],
      blockNumber: hex(block),
      blockHash: word(block, 'b1'),
      transactionHash: word(count, '7a'),
      transactionIndex: hex(index),
      logIndex: hex(index),
    })
  })
  return Buffer.from(logs.join(','))
})

const server = createServer(async (request, response) => {
  const { id, method, params } = JSON.parse(await text(request))
  response.setHeader('content-type', 'application/json')
  const plain: Record<string, unknown> = { eth_chainId: hex(chainId), eth_blockNumber: hex(blocks - 1) }
  if (method in plain) return response.end(JSON.stringify({ jsonrpc: '2.0', id, result: plain[method] }))
  const [from, to] = [Number(params[0].fromBlock), Number(params[0].toBlock)]
  response.write(`{"jsonrpc":"2.0","id":${id},"result":[`)
  for (let block = from; block <= to; block++) {
    if (block > from) response.write(',')
    if (!response.write(answers[block])) await new Promise((resolve) => response.once('drain', resolve))
  }
  return response.end(']}')
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})
