import {
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'

/** A client that asks for another protocol, and the connection that the server has let go of. */
export interface UpgradingClient {
  request: IncomingMessage
  socket: Duplex
  /** The bytes that came on the connection after the head of the request. */
  head: Buffer
}

/** The request to the other server, over a connection of its own. */
export interface Forwarded {
  upstream: Duplex
  path: string
  headers: OutgoingHttpHeaders
  /** The headers of the answer that the client may see, without those about one connection. */
  returned: (answer: IncomingMessage) => OutgoingHttpHeaders
}

/**
 * Asks another server for another protocol on behalf of a client, and joins the two connections only when that server has
 * switched: it answered 101 with a protocol that the client named (RFC 9110, 7.8 and 15.2.2). Any other answer is handed on
 * like that to any request, and the client's connection ends with it. It may be the connection of a proxy, which would send
 * the requests of other people over it next.
 * @returns when both connections are closed
 * @throws when the other server gives no answer, or one that is not allowed; nothing was written to the client then
 */
export async function carryUpgrade(client: UpgradingClient, forwarded: Forwarded): Promise<void> {
  const { socket, request } = client
  const { upstream, returned } = forwarded
  const cut = () => upstream.destroy()
  socket.once('close', cut)
  try {
    const { answer, rest } = await answerTo(request, forwarded)
    if (rest) return await join(client, { answer, rest, upstream }, returned(answer))
    const reply = new ServerResponse(request)
    reply.assignSocket(socket as Socket)
    reply.writeHead(answer.statusCode!, { ...returned(answer), connection: 'close' })
    await pipeline(answer, reply).then(
      () => (socket as Socket).destroySoon(),
      () => socket.destroy(),
    )
  } finally {
    socket.off('close', cut)
    cut()
  }
}

/** @returns the answer, with what came after its head when the server has switched */
function answerTo(
  { method, headers: { upgrade } }: IncomingMessage,
  { upstream, path, headers }: Forwarded,
): Promise<{ answer: IncomingMessage; rest?: Buffer }> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest({
      createConnection: () => upstream as Socket,
      method,
      path,
      headers: { ...headers, connection: 'Upgrade', upgrade },
      setHost: false,
    })
    asked.once('response', (answer) => {
      if (isFinal(answer)) resolve({ answer })
      else reject(new Error('The server switched, and named no protocol'))
    })
    asked.once('upgrade', (answer, _socket, rest) => {
      if (isSwitched(answer, upgrade)) resolve({ answer, rest })
      else reject(new Error('The server switched to a protocol that nobody asked for'))
    })
    asked.on('error', reject)
    asked.once('close', () => reject(new Error('The server gave no answer')))
    asked.end()
  })
}

/** Whether an answer ends what was asked. Node takes a 101 that names no protocol for one. */
export const isFinal = ({ statusCode = 0 }: IncomingMessage) => statusCode >= 200

const namesOf = (header = '') => header.split(',').map((name) => name.trim().toLowerCase())

function isSwitched({ statusCode, headers }: IncomingMessage, wanted: string | undefined): boolean {
  const [protocol = '', ...others] = namesOf(headers.upgrade)
  return (
    statusCode === 101 &&
    namesOf(headers.connection).includes('upgrade') &&
    protocol !== '' &&
    others.length === 0 &&
    namesOf(wanted).includes(protocol)
  )
}

/** Hands the bytes both ways until one side is done. */
async function join(
  { socket, head }: UpgradingClient,
  { answer, rest, upstream }: { answer: IncomingMessage; rest: Buffer; upstream: Duplex },
  headers: OutgoingHttpHeaders,
): Promise<void> {
  const lines = Object.entries({
    ...headers,
    connection: 'Upgrade',
    upgrade: answer.headers.upgrade,
  }).flatMap(([name, value]) => [value].flat().map((each) => `${name}: ${each}`))
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  socket.write(rest)
  upstream.write(head)
  upstream.on('error', () => upstream.destroy())
  upstream.pipe(socket)
  socket.pipe(upstream)
  await Promise.race([finished(upstream), finished(socket)]).catch(() => {})
  upstream.destroy()
  socket.destroy()
}
