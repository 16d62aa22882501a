import { hkdfSync } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type AddressInfo, isIPv6, type Socket } from 'node:net'
import { connect, createServer, type TLSSocket } from 'node:tls'
import type { FastifyInstance } from 'fastify'

/*
 * How replicas reach each other: HTTP over TLS in which both sides prove that they have the server secret, by a key that
 * is derived of it. No certificate has to be made, and nobody else can read, ask or answer.
 * Sources: RFC 4279 (keys shared in advance), RFC 7905 (this cipher suite, with forward secrecy).
 */

const IDENTITY = 'coinrack replica'
/** In TLS 1.3 Node offers such keys to neither side in a documented way. */
const PROTOCOL = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const
const CONNECT_MS = 3_000
const KEEP_ALIVE_MS = 10_000
/** The address of the client as the replica saw it that passes a request on. */
const CLIENT = 'x-coinrack-client'

const keyOf = (serverSecret: string) =>
  Buffer.from(hkdfSync('sha256', serverSecret, '', 'coinrack replica link', 32))

/** The connections that other replicas have opened. */
const links = new WeakSet<Socket>()

/** Whether another replica has passed this request on. */
export const isFromReplica = ({ socket }: Pick<IncomingMessage, 'socket'>): boolean => links.has(socket)

/** The client's address of a request that another replica has passed on; undefined for every other request. */
export function clientBehindReplica(
  request: Pick<IncomingMessage, 'socket' | 'headers'>,
): string | undefined {
  const client = request.headers[CLIENT]
  return isFromReplica(request) && typeof client === 'string' ? client : undefined
}

/** The headers of a request to another replica on behalf of a client. */
export const headersForReplica = ({ headers }: IncomingMessage, client: string) => ({
  ...headers,
  [CLIENT]: client,
  // A connection is for one request.
  connection: 'close',
})

/** Lets requests that other replicas pass on count for the client that they come from. Register it before what asks for `ip`. */
export function believeReplicas(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    const client = clientBehindReplica(request.raw)
    if (client !== undefined) Object.defineProperties(request, { ip: { value: client } })
  })
}

/**
 * Takes the requests of other replicas, which the app answers like all others.
 * @param at where it listens; with port 0 the kernel chooses one
 * @returns where the others reach it, as `host:port`
 */
export async function listenForReplicas(
  app: FastifyInstance,
  { serverSecret, at }: { serverSecret: string; at: { host: string; port: number } },
): Promise<{ address: string; close(): Promise<void> }> {
  const psk = keyOf(serverSecret)
  const server = createServer(
    {
      ...PROTOCOL,
      handshakeTimeout: CONNECT_MS,
      pskCallback: (_socket, identity) => (identity === IDENTITY ? psk : null),
    },
    (socket) => {
      socket.setKeepAlive(true, KEEP_ALIVE_MS)
      links.add(socket)
      app.server.emit('connection', socket)
    },
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(at, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    address: `${isIPv6(at.host) ? `[${at.host}]` : at.host}:${port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/**
 * Opens a connection to another replica.
 * @param address as `host:port`
 * @throws Error when it cannot be reached within three seconds, or does not have the same server secret
 */
export async function linkToReplica(address: string, serverSecret: string): Promise<TLSSocket> {
  const { hostname, port } = new URL(`tls://${address}`)
  const socket = connect({
    ...PROTOCOL,
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port),
    pskCallback: () => ({ psk: keyOf(serverSecret), identity: IDENTITY }),
    // The key has proved who it is.
    checkServerIdentity: () => undefined,
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const late = setTimeout(() => socket.destroy(new Error(`${address} does not answer`)), CONNECT_MS)
  socket.once('secureConnect', resolve)
  socket.on('error', reject)
  socket.once('close', () => reject(new Error(`${address} closed the connection`)))
  try {
    await promise
  } finally {
    clearTimeout(late)
  }
  socket.setKeepAlive(true, KEEP_ALIVE_MS)
  return socket
}
