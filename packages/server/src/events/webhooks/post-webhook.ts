import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { demandNoTransaction } from '../../database/transaction.ts'
import { hostOf, literalAddress } from './webhook-url.ts'

/** All of it: look-up, connection, and the whole answer. */
const TIMEOUT_MS = 10_000
/** The size of the answer that is read; the rest is not waited for. */
const MOST_ANSWER_BYTES = 64 * 1024

export interface PostOptions {
  /** All addresses of a name. */
  lookup(host: string): Promise<string[]>
  mayReach(address: string): boolean
  timeoutMs?: number
}

/** The request was not made, or not answered; the message is for the owner of the webhook. */
export class PostFailure extends Error {}

/**
 * Posts a body, and follows no redirect. The name is looked up once, every address of it has to be allowed, and the
 * connection is made to an address that was judged: what the name leads to a moment later makes no difference.
 * @returns the HTTP status
 * @throws PostFailure
 */
export async function postWebhook(
  url: URL,
  headers: Record<string, string>,
  body: string,
  { lookup, mayReach, timeoutMs = TIMEOUT_MS }: PostOptions,
): Promise<number> {
  demandNoTransaction('A post to a webhook')
  const signal = AbortSignal.timeout(timeoutMs)
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new PostFailure(`No answer within ${timeoutMs / 1000} s`)))
  })
  return Promise.race([late, post()])

  async function post(): Promise<number> {
    const literal = literalAddress(url)
    const addresses = literal === undefined ? await addressesOf(hostOf(url)) : [literal]
    const forbidden = addresses.find((address) => !mayReach(address))
    if (forbidden !== undefined) throw new PostFailure('The URL must point to a public address')
    return send(addresses[0]!)
  }

  async function addressesOf(host: string): Promise<string[]> {
    const addresses = await lookup(host).catch(() => [])
    if (addresses.length === 0) throw new PostFailure('The host has no address')
    return addresses
  }

  function send(address: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const isTls = url.protocol === 'https:'
      const options = {
        method: 'POST',
        host: address,
        port: url.port || (isTls ? 443 : 80),
        path: url.pathname + url.search,
        headers: { ...headers, host: url.host, 'content-length': Buffer.byteLength(body) },
        // A connection of its own: one that is kept could have been made under another verdict.
        agent: false as const,
        signal,
        ...(isTls && literalAddress(url) === undefined ? { servername: hostOf(url) } : {}),
      }
      const request = (isTls ? httpsRequest : httpRequest)(options, (response) => {
        let bytes = 0
        const done = () => {
          request.destroy()
          resolve(response.statusCode!)
        }
        response.on('data', (part: Buffer) => {
          bytes += part.length
          if (bytes > MOST_ANSWER_BYTES) done()
        })
        response.on('end', done)
        response.on('error', () => reject(new PostFailure('The answer broke off')))
      })
      request.on('error', (error: NodeJS.ErrnoException) => {
        reject(new PostFailure(`The connection failed: ${error.code ?? 'error'}`))
      })
      request.end(body)
    })
  }
}
