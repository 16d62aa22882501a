/*
 * Plays the world outside a host, for tests: run in a namespace of its own. On the given TCP ports it says who
 * called; on 9000 it sends as fast as it is read; on port 53 of the addresses in `RESOLVERS` it answers every name with
 * the address in `ANSWER`, but for those that say theirs themselves; of IPv6 only these have one.
 */
import { createSocket } from 'node:dgram'
import { createServer, type Server, type Socket } from 'node:net'

const A = 1
const AAAA = 28
const ports = process.argv.slice(2).map(Number)
const chunk = Buffer.alloc(64 * 1024)
const flood = (socket: Socket) => {
  while (socket.writable && socket.write(chunk)) {}
}

await Promise.all([
  ...ports.map((port) =>
    listening(
      createServer((socket) => socket.on('error', () => {}).end(`caller ${socket.remoteAddress}\n`)),
      port,
    ),
  ),
  listening(
    createServer((socket) => {
      socket.on('error', () => {}).on('drain', () => flood(socket))
      flood(socket)
    }),
    9_000,
  ),
])
// A datagram is answered from the address that it was sent to only by a socket of that address.
await Promise.all(
  process.env.RESOLVERS!.split(' ').flatMap((address) => {
    const names = createSocket('udp4')
    names.on('message', (query, from) => names.send(answerTo(query), from.port, from.address))
    const streams = createServer((socket) =>
      socket
        .on('error', () => {})
        .on('data', (data: Buffer) => {
          const answer = answerTo(data.subarray(2))
          socket.write(Buffer.concat([Buffer.from([answer.length >> 8, answer.length & 255]), answer]))
        }),
    )
    return [new Promise<void>((resolve) => names.bind(53, address, resolve)), listening(streams, 53, address)]
  }),
)
console.log('ready')

/**
 * RFC 1035 and 3596. `to-other-example.any` is another name for `other.example`; `198-51-100-2.any` has that address, and
 * `2001-db8--1.any` the one of IPv6.
 */
function answerTo(query: Buffer): Buffer {
  const end = query.indexOf(0, 12) + 5
  const type = query.readUInt16BE(end - 4)
  const label = query.toString('latin1', 13, 13 + query[12]!).toLowerCase()
  const alias = label.startsWith('to-') ? label.slice(3).split('-') : undefined
  const target = alias?.map((part) => Buffer.from([part.length, ...Buffer.from(part)])) ?? []
  const records = [
    ...(alias ? [record(5, Buffer.concat([...target, Buffer.from([0])]))] : []),
    ...addressesOf(label, type).map((address) =>
      record(type, address, alias && Buffer.concat([...target, Buffer.from([0])])),
    ),
  ]
  const head = Buffer.from([query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, records.length, 0, 0, 0, 0])
  return Buffer.concat([head, query.subarray(12, end), ...records])
}

function addressesOf(label: string, type: number): Buffer[] {
  const isIpv6 = label.includes('--')
  if (type === AAAA && isIpv6) return [ipv6Bytes(label.replaceAll('-', ':'))]
  if (type !== A || isIpv6) return []
  const parts = /^(\d+-){3}\d+$/.test(label) ? label.split('-') : process.env.ANSWER!.split('.')
  return [Buffer.from(parts.map(Number))]
}

/** An address with one `::`. */
function ipv6Bytes(address: string): Buffer {
  const [before, after] = address.split('::').map((side) => side.split(':').filter(Boolean)) as [
    string[],
    string[],
  ]
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  const groups = [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16))
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 255]))
}

/** The record for the name that was asked for, unless it is given another; it may be used for a minute. */
const record = (type: number, data: Buffer, owner = Buffer.from([0xc0, 12])) =>
  Buffer.concat([owner, Buffer.from([0, type, 0, 1, 0, 0, 0, 60, 0, data.length]), data])

function listening(server: Server, port: number, address = '0.0.0.0'): Promise<void> {
  return new Promise((resolve) => server.listen(port, address, resolve))
}
