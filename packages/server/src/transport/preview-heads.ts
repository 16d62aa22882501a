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

/** Under the address of the service itself a sandbox says nothing about that address. */
const OF_THE_ORIGIN = new Set([
  'set-cookie',
  'service-worker-allowed',
  'clear-site-data',
  'strict-transport-security',
  'alt-svc',
  'public-key-pins',
])

/** What runs in a sandbox is no page of ours: it gets an origin that nothing else has. */
const APART = 'sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts'

const TOKEN_HEADER = 'x-preview-token'
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
  const inHeader = headers[TOKEN_HEADER]
  const token = typeof inHeader === 'string' ? inHeader : cookiesOf(headers).get(cookieName(address))
  return { token, path: address.path, isInQuery: false }
}

/** Keeps the token in a browser, for this preview alone. */
export const tokenCookie = (address: PreviewAddress, token: string, publicUrl: string) =>
  `${cookieName(address)}=${token}; Path=${address.prefix}/; HttpOnly; SameSite=Lax${publicUrl.startsWith('https:') ? '; Secure' : ''}`

/** What is asked of the server in the sandbox. */
export function forwardedHead(
  request: Pick<IncomingMessage, 'headers'>,
  address: PreviewAddress,
  { path, client }: { path: string; client: string },
): { path: string; headers: OutgoingHttpHeaders } {
  const headers = endToEnd(request.headers)
  delete headers[TOKEN_HEADER]
  // Somebody's token of this service is none of the sandbox's business.
  if (/^Bearer +crk_/i.test(request.headers.authorization ?? '')) delete headers.authorization
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

/** What is answered of it to the client. */
export function returnedHead(
  { headers: given }: Pick<IncomingMessage, 'headers'>,
  { prefix }: PreviewAddress,
): OutgoingHttpHeaders {
  const isOurs = prefix !== ''
  const headers = endToEnd(given)
  if (isOurs) for (const name of OF_THE_ORIGIN) delete headers[name]
  headers['x-robots-tag'] = 'noindex'
  if (!isOurs) return headers
  // Of several policies all hold.
  Object.assign(headers, {
    'content-security-policy': [given['content-security-policy'] ?? [], APART].flat(),
  })
  if (given.location?.startsWith('/') && !given.location.startsWith('//'))
    headers.location = `${prefix}${given.location}`
  return headers
}

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
