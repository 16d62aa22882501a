import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { PreviewAddress } from './preview-address.ts'

/** They are about one connection, not about what is asked (RFC 9110, 7.6.1). */
const OF_ONE_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Headers without those about one connection. */
export const endToEnd = (headers: IncomingHttpHeaders): OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_ONE_CONNECTION.has(name)))

/**
 * The headers that a sandbox may send under the address of the service itself: about its answer and the page in it
 * alone. Many other headers act on all of the origin (`NEL`, `Reporting-Endpoints`, `Set-Login`, `Accept-CH`,
 * `Use-As-Dictionary`, `Alt-Svc`, `Clear-Site-Data`, the realms of `WWW-Authenticate`), and browsers learn new ones, so
 * a header that is not named here is left out. https://www.iana.org/assignments/http-fields
 */
const OF_ONE_ANSWER = new Set([
  'accept-ranges',
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'access-control-max-age',
  'age',
  'allow',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-range',
  'content-security-policy',
  'content-type',
  'cross-origin-embedder-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'date',
  'etag',
  'expires',
  'grpc-message',
  'grpc-status',
  'last-modified',
  'link',
  'location',
  'mcp-protocol-version',
  'mcp-session-id',
  'permissions-policy',
  'pragma',
  'ratelimit',
  'ratelimit-policy',
  'referrer-policy',
  'retry-after',
  'sec-websocket-accept',
  'sec-websocket-extensions',
  'sec-websocket-protocol',
  'sec-websocket-version',
  'server-timing',
  'timing-allow-origin',
  'vary',
])

/** By such names programs tell each other what they like; to browsers they say nothing beyond a page. */
const OWN_NAME = /^x-/

/** Orders to the proxy in front, to serve a file of its own for one: nginx, Apache and lighttpd. */
const FOR_THE_PROXY = /^x-(accel-|sendfile|lighttpd-|litespeed-|reproxy-)/

/** A page from a sandbox is not ours: it gets an origin that no other page has. */
const APART = 'sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts'

const TOKEN_HEADER = 'x-preview-token'
/** The same by the name that E2B's clients give it. */
const E2B_TOKEN_HEADER = 'e2b-traffic-access-token'
const TOKEN_QUERY = 'preview_token'
const cookieName = ({ sandboxId, port }: PreviewAddress) => `preview-${port}-${sandboxId}`

/** The token that comes with a request, and its path without it. */
export function presentedToken(
  address: PreviewAddress,
  headers: IncomingHttpHeaders,
): { token: string | undefined; path: string; isInQuery: boolean } {
  const [path, query] = splitQuery(address.path)
  const parameters = new URLSearchParams(query)
  const inQuery = parameters.get(TOKEN_QUERY)
  if (inQuery !== null) {
    parameters.delete(TOKEN_QUERY)
    const rest = parameters.size > 0 ? `${path}?${parameters}` : path
    return { token: inQuery, path: rest, isInQuery: true }
  }
  const inHeader = headers[TOKEN_HEADER] ?? headers[E2B_TOKEN_HEADER]
  const token = typeof inHeader === 'string' ? inHeader : cookiesOf(headers).get(cookieName(address))
  return { token, path: address.path, isInQuery: false }
}

/** Keeps the token in a browser, for this preview alone. */
export const tokenCookie = (address: PreviewAddress, token: string, publicUrl: string) =>
  `${cookieName(address)}=${token}; Path=${address.prefix}/; HttpOnly; SameSite=Lax${publicUrl.startsWith('https:') ? '; Secure' : ''}`

/** The head of the request to the server in the sandbox. */
export function forwardedHead(
  request: Pick<IncomingMessage, 'headers'>,
  address: PreviewAddress,
  { path, client }: { path: string; client: string },
): { path: string; headers: OutgoingHttpHeaders } {
  const headers = endToEnd(request.headers)
  delete headers[TOKEN_HEADER]
  delete headers[E2B_TOKEN_HEADER]
  // A caller's token of this service is kept from the sandbox.
  if (/^Bearer +(crk|e2b)_/i.test(request.headers.authorization ?? '')) delete headers.authorization
  if (/^(crk|e2b)_/.test(String(request.headers['x-api-key']))) delete headers['x-api-key']
  const cookies = cookiesOf(request.headers)
  cookies.delete(cookieName(address))
  delete headers.cookie
  if (cookies.size > 0) headers.cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  headers['x-forwarded-for'] = client
  headers['x-forwarded-host'] = request.headers.host
  if (address.prefix !== '') headers['x-forwarded-prefix'] = address.prefix
  headers.connection = 'close'
  if (request.headers['transfer-encoding']) headers['transfer-encoding'] = 'chunked'
  return { path, headers }
}

/**
 * The head of the answer to the client. A preview under a name of its own may say what it likes about that name, but
 * nothing about the names beside it, which are the previews of others.
 */
export function returnedHead(
  { headers: given }: Pick<IncomingMessage, 'headers'>,
  { prefix }: PreviewAddress,
): OutgoingHttpHeaders {
  const isOurs = prefix !== ''
  const headers = endToEnd(given)
  for (const name of Object.keys(headers))
    if (FOR_THE_PROXY.test(name) || (isOurs && !OF_ONE_ANSWER.has(name) && !OWN_NAME.test(name)))
      delete headers[name]
  // It clears the cookies of the whole domain (W3C Clear Site Data, 3.1).
  delete headers['clear-site-data']
  if (headers['set-cookie']) headers['set-cookie'] = given['set-cookie']!.map(ofOneHost)
  headers['x-robots-tag'] = 'noindex'
  if (!isOurs) return headers
  // Where there are several policies, all of them hold.
  Object.assign(headers, {
    'content-security-policy': [given['content-security-policy'] ?? [], APART].flat(),
  })
  if (given.location?.startsWith('/') && !given.location.startsWith('//'))
    headers.location = `${prefix}${given.location}`
  return headers
}

/** A cookie without its Domain, so that it goes to no other host (RFC 6265, 5.2.3 and 5.3). */
const ofOneHost = (cookie: string) =>
  cookie
    .split(';')
    .filter((part, index) => index === 0 || !/^\s*domain\s*(=|$)/i.test(part))
    .join(';')

function splitQuery(path: string): [string, string] {
  const at = path.indexOf('?')
  return at < 0 ? [path, ''] : [path.slice(0, at), path.slice(at + 1)]
}

function cookiesOf({ cookie = '' }: IncomingHttpHeaders): Map<string, string> {
  return new Map(
    cookie.split(';').flatMap((part): [string, string][] => {
      const at = part.indexOf('=')
      return at < 0 ? [] : [[part.slice(0, at).trim(), part.slice(at + 1).trim()]]
    }),
  )
}
