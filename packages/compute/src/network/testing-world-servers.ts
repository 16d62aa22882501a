/*
 * Plays the world outside a host, for tests: run in a namespace of its own. On the given TCP ports it says who
 * called; on 9000 it sends as fast as it is read; on UDP 53 of the address in `RESOLVER` it answers every name with the
 * address in `ANSWER`.
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
const names = createSocket('udp4')
names.on('message', (query, from) => {
  const end = query.indexOf(0, 12) + 5
  const isA = query.readUInt16BE(end - 4) === 1
  const head = Buffer.from([query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0])
  const address = process.env.ANSWER!.split('.').map(Number)
  const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address])
  names.send(
    Buffer.concat([head, query.subarray(12, end), ...(isA ? [answer] : [])]),
    from.port,
    from.address,
  )
})
// A datagram is answered from the address that it was sent to only by a socket of that address.
names.bind(53, process.env.RESOLVER, () => console.log('ready'))

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve) => server.listen(port, '0.0.0.0', resolve))
}
