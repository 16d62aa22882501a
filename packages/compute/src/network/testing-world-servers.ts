/*
 * Plays the world outside a host, for tests: run in a namespace of its own. On the given TCP ports it says who
 * called; on 9000 it sends as fast as it is read; on port 53 of the addresses in `RESOLVERS` it answers every name with
 * the address in `ANSWER`, but for those that say theirs themselves.
 */
import { createSocket } from 'node:dgram'
import { createServer, type Server, type Socket } from 'node:net'

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

/** RFC 1035. `to-other-example.any` is another name for `other.example`; `198-51-100-2.any` has that address. */
function answerTo(query: Buffer): Buffer {
  const end = query.indexOf(0, 12) + 5
  const isA = query.readUInt16BE(end - 4) === 1
  const label = query.toString('latin1', 13, 13 + query[12]!).toLowerCase()
  const alias = label.startsWith('to-') ? label.slice(3).split('-') : undefined
  const target = alias?.map((part) => Buffer.from([part.length, ...Buffer.from(part)])) ?? []
  const records = [
    ...(alias ? [record(5, Buffer.concat([...target, Buffer.from([0])]))] : []),
    ...(isA
      ? [record(1, Buffer.from(addressOf(label)), alias && Buffer.concat([...target, Buffer.from([0])]))]
      : []),
  ]
  const head = Buffer.from([query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, records.length, 0, 0, 0, 0])
  return Buffer.concat([head, query.subarray(12, end), ...records])
}

const addressOf = (label: string) =>
  (/^(\d+-){3}\d+$/.test(label) ? label.split('-') : process.env.ANSWER!.split('.')).map(Number)

/** Of the name that was asked for, unless it is of another; it may be used for a minute. */
const record = (type: number, data: Buffer, owner = Buffer.from([0xc0, 12])) =>
  Buffer.concat([owner, Buffer.from([0, type, 0, 1, 0, 0, 0, 60, 0, data.length]), data])

function listening(server: Server, port: number, address = '0.0.0.0'): Promise<void> {
  return new Promise((resolve) => server.listen(port, address, resolve))
}
