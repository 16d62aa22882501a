import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { demandNoTransaction } from '../database/transaction.ts'

/** The host of a URL as it is looked up: of `[::1]` the address inside. */
export const hostOf = (url: URL) => url.hostname.replace(/^\[(.*)\]$/, '$1')

/** The address that is the host itself, whatever way it was written; undefined when it is a name. */
export const literalAddress = (url: URL) => (isIP(hostOf(url)) ? hostOf(url) : undefined)

export interface PublicRequest {
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string
  /** All addresses of a name. */
  lookup(host: string): Promise<string[]>
  mayReach(address: string): boolean
  /** All of it: look-up, connection, and the whole answer. */
  timeoutMs: number
  /** The size of the answer that is read; the rest is not waited for. */
  mostBytes: number
}

export interface PublicAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
  /** False: there is more than `mostBytes`. */
  isWhole: boolean
}

/** The request was not made, or not answered; the message is for whoever gave the URL. */
export class PublicHostFailure extends Error {}

/**
 * Asks a host that somebody outside has named, and follows no redirect. The name is looked up once, every address of it has
 * to be allowed, and the connection is made to an address that was judged: what the name leads to a moment later makes no
 * difference.
 * @throws PublicHostFailure
 */
export async function askPublicHost(url: URL, wanted: PublicRequest): Promise<PublicAnswer> {
  const { method, headers, body, lookup, mayReach, timeoutMs, mostBytes } = wanted
  demandNoTransaction('A request to a host from outside')
  const signal = AbortSignal.timeout(timeoutMs)
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () =>
      reject(new PublicHostFailure(`No answer within ${timeoutMs / 1000} s`)),
    )
  })
  return Promise.race([late, ask()])

  async function ask(): Promise<PublicAnswer> {
    const literal = literalAddress(url)
    const addresses = literal === undefined ? await addressesOf(hostOf(url)) : [literal]
    const forbidden = addresses.find((address) => !mayReach(address))
    if (forbidden !== undefined) throw new PublicHostFailure('The URL must point to a public address')
    return send(addresses[0]!)
  }

  async function addressesOf(host: string): Promise<string[]> {
    const addresses = await lookup(host).catch(() => [])
    if (addresses.length === 0) throw new PublicHostFailure('The host has no address')
    return addresses
  }

  function send(address: string): Promise<PublicAnswer> {
    return new Promise((resolve, reject) => {
      const isTls = url.protocol === 'https:'
      const options = {
        method,
        host: address,
        port: url.port || (isTls ? 443 : 80),
        path: url.pathname + url.search,
        headers: {
          ...headers,
          host: url.host,
          ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
        },
        // A connection of its own: one that is kept could have been made under another verdict.
        agent: false as const,
        signal,
        ...(isTls && literalAddress(url) === undefined ? { servername: hostOf(url) } : {}),
      }
      const request = (isTls ? httpsRequest : httpRequest)(options, (response) => {
        const parts: Buffer[] = []
        let bytes = 0
        const done = (isWhole: boolean) => {
          request.destroy()
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            body: Buffer.concat(parts),
            isWhole,
          })
        }
        response.on('data', (part: Buffer) => {
          bytes += part.length
          if (bytes > mostBytes) done(false)
          else parts.push(part)
        })
        response.on('end', () => done(true))
        response.on('error', () => reject(new PublicHostFailure('The answer broke off')))
      })
      request.on('error', (error: NodeJS.ErrnoException) => {
        reject(new PublicHostFailure(`The connection failed: ${error.code ?? 'error'}`))
      })
      request.end(body)
    })
  }
}
