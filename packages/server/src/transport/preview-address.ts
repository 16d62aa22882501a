import type { IncomingMessage } from 'node:http'
import type { Config } from '../config/config.ts'

const PREFIX = '/preview/'
/** Where E2B's clients are served: what they ask of the service, and of sandboxes. */
export const E2B_PATH = '/e2b'
/** Where the files of templates are sent to, by signed links: also below the name that E2B's clients ask. */
export const TEMPLATE_UPLOADS = '/template-uploads'
/** The ports that E2B's clients ask of a sandbox, which the service answers itself: for its system, and for its code. */
export const E2B_PORTS: readonly number[] = [49983, 49999]
const NAME = /^(\d{1,5})-(sbx[0-9a-z]{26})$/
const PATH = /^\/preview\/(sbx[0-9a-z]{26})\/(\d{1,5})(\/[^?]*)?(?:\?(.*))?$/

/** Where a request for a preview leads. */
export interface PreviewAddress {
  sandboxId: string
  port: number
  /** As the server in the sandbox sees it: with its query. */
  path: string
  /** The path before that under the address of this service; empty under a name of its own. */
  prefix: string
}

/**
 * The path form of what asks for the name of a preview, `8000-sbx....sandbox.example.net`, or for the names that E2B's
 * clients use, `api.sandbox.example.net` and those of its ports; undefined of any other host. Whatever its path is, it
 * leads nowhere else.
 */
export function previewPath(
  { sandboxDomain }: Pick<Config, 'sandboxDomain'>,
  { headers, url = '/' }: Pick<IncomingMessage, 'headers' | 'url'>,
): string | undefined {
  const path = url.startsWith('/') ? url : '/'
  if (isApi(sandboxDomain, headers.host))
    return path.startsWith(`${TEMPLATE_UPLOADS}/`) ? path : E2B_PATH + path
  const name = nameOf(sandboxDomain, headers.host)
  if (!name) return undefined
  return E2B_PORTS.includes(name.port) ? E2B_PATH + path : `${PREFIX}${name.sandboxId}/${name.port}${path}`
}

/** Where a request leads, as it came; undefined when it is for no preview. */
export function previewAddress(
  { sandboxDomain }: Pick<Config, 'sandboxDomain'>,
  { headers, url = '/' }: Pick<IncomingMessage, 'headers' | 'url'>,
): PreviewAddress | undefined {
  const name = nameOf(sandboxDomain, headers.host)
  if (name) return { ...name, path: url.startsWith('/') ? url : '/', prefix: '' }
  const match = PATH.exec(url)
  if (!match) return undefined
  const [, sandboxId, port, path = '/', query] = match
  return {
    sandboxId: sandboxId!,
    port: Number(port),
    path: query === undefined ? path : `${path}?${query}`,
    prefix: `${PREFIX}${sandboxId}/${port}`,
  }
}

const bare = (host = '') => host.toLowerCase().replace(/:\d+$/, '')

/** Whether a host is the name at which E2B's clients ask the service. */
export const isApi = (domain: string | undefined, host: string | undefined) =>
  domain !== undefined && bare(host) === `api.${domain}`

/** The sandbox and the port that a host name of the domain names; undefined of any other. */
export function nameOf(
  domain: string | undefined,
  host = '',
): { sandboxId: string; port: number } | undefined {
  if (domain === undefined) return undefined
  const lower = bare(host)
  if (!lower.endsWith(`.${domain}`)) return undefined
  const match = NAME.exec(lower.slice(0, -domain.length - 1))
  return match ? { port: Number(match[1]), sandboxId: match[2]! } : undefined
}
