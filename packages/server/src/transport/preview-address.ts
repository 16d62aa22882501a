import type { IncomingMessage } from 'node:http'
import type { Config } from '../config/config.ts'

const PREFIX = '/preview/'
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
 * The path form of what asks for the name of a preview, `8000-sbx....sandbox.example.net`; undefined of any other host.
 * Whatever its path is, it leads nowhere else.
 */
export function previewPath(
  { sandboxDomain }: Pick<Config, 'sandboxDomain'>,
  { headers, url = '/' }: Pick<IncomingMessage, 'headers' | 'url'>,
): string | undefined {
  const name = nameOf(sandboxDomain, headers.host)
  return name && `${PREFIX}${name.sandboxId}/${name.port}${url.startsWith('/') ? url : '/'}`
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

function nameOf(domain: string | undefined, host = ''): { sandboxId: string; port: number } | undefined {
  if (domain === undefined) return undefined
  const lower = host.toLowerCase().replace(/:\d+$/, '')
  if (!lower.endsWith(`.${domain}`)) return undefined
  const match = NAME.exec(lower.slice(0, -domain.length - 1))
  return match ? { port: Number(match[1]), sandboxId: match[2]! } : undefined
}
