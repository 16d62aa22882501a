import { isIPv6 } from 'node:net'
import type { Config } from './config.ts'

/** Where sandbox hosts find this service, each `host:port`; none where it takes no hosts. */
export function hostsAddresses({
  hostsListen,
  hostsAddress,
}: Pick<Config, 'hostsListen' | 'hostsAddress'>): string[] {
  if (!hostsListen) return []
  const { host, port } = hostsListen
  return hostsAddress ?? [`${isIPv6(host) ? `[${host}]` : host}:${port}`]
}
