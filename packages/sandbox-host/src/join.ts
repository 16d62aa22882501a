import { X509Certificate } from 'node:crypto'
import { connect, type TLSSocket } from 'node:tls'
import { JOIN_PROTOCOL, type JoinToken, SERVICE_NAME } from '@coinrack/host/join-token.ts'
import { z } from 'zod'
import { fingerprintOf, type Identity, type RequestedKey } from './identity.ts'

/** A failure in words for who sits at the machine. */
export class JoinError extends Error {
  override name = 'JoinError'
}

const CONNECT_MS = 10_000
const ANSWER_BYTES = 64 * 1024

const Answer = z.union([
  z.object({ refused: z.string().max(1_000) }),
  z.object({ certificate: z.string(), authority: z.string(), services: z.array(z.string()).min(1) }),
])

/**
 * Joins a service: sends the token's secret and the request for a certificate to the service that the token names, once that has
 * proved to be the one.
 * @throws JoinError
 */
export async function joinService(
  token: JoinToken,
  { key, request }: RequestedKey,
  now: Date,
): Promise<Identity> {
  const failures: string[] = []
  for (const address of token.addresses)
    try {
      const socket = await connectTo(address, token, now)
      const { hostId: host, secret } = token
      socket.write(`${JSON.stringify({ host, secret, request })}\n`)
      const answer = Answer.parse(JSON.parse(await readAll(socket)))
      if ('refused' in answer) throw new JoinError(answer.refused)
      if (fingerprintOf(new X509Certificate(answer.authority).raw) !== token.authority)
        throw new JoinError('The service answered with another authority than the one of the token')
      return { hostId: host, key, ...answer }
    } catch (error) {
      if (error instanceof JoinError) throw error
      failures.push(`${address}: ${(error as Error).message}`)
    }
  throw new JoinError(`The service cannot be reached.\n  ${failures.join('\n  ')}`)
}

async function connectTo(address: string, { authority }: JoinToken, now: Date): Promise<TLSSocket> {
  const { hostname, port } = new URL(`tls://${address}`)
  const socket = connect({
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port),
    minVersion: 'TLSv1.3',
    ALPNProtocols: [JOIN_PROTOCOL],
    servername: SERVICE_NAME,
    // There is no authority to trust yet but the one whose certificate the token knows.
    rejectUnauthorized: false,
  })
  socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error('It does not answer')))
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve)
    socket.once('error', reject)
  })
  try {
    demandService(socket, authority, now)
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** @throws JoinError unless the other end has a certificate for a service that the token's authority has signed */
function demandService(socket: TLSSocket, authority: string, now: Date): void {
  const leaf = socket.getPeerX509Certificate()
  const issuer = leaf?.issuerCertificate
  if (!leaf || !issuer || fingerprintOf(issuer.raw) !== authority || !leaf.verify(issuer.publicKey))
    throw new JoinError(
      'Another service than the one of the token answers. Nothing was sent to it. Is somebody between this machine and the service?',
    )
  if (leaf.checkHost(SERVICE_NAME) === undefined)
    throw new JoinError('A host answers in the place of the service. Nothing was sent to it.')
  if (now < leaf.validFromDate || now > leaf.validToDate)
    throw new JoinError(
      `The clock of this machine says ${now.toISOString()}, and the certificate of the service holds from ${leaf.validFromDate.toISOString()}: set the clock.`,
    )
}

async function readAll(socket: TLSSocket): Promise<string> {
  let text = ''
  for await (const piece of socket) {
    text += String(piece)
    if (text.length > ANSWER_BYTES) throw new Error('Its answer does not end')
  }
  return text
}
