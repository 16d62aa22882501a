import { Resolver } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import { runCommand } from '@coinrack/host/run-command.ts'
import { ipv6Digits } from '../../../platform/ipv6.ts'
import type { ReverseDns } from '../../../platform/reverse-dns.ts'
import { reverseName } from './reverse-name.ts'

/** A key for signed updates (TSIG, RFC 8945). */
export interface UpdateKey {
  algorithm: string
  name: string
  /** In base64. */
  secret: string
}

export interface NsupdateOptions {
  /** The primary name server of the reverse zones; it finds the zone of an address itself. */
  server: { host: string; port: number }
  key: UpdateKey
  /** The server to ask where names lead. Default: the one that this host asks. */
  resolver?: { host: string; port: number } | undefined
}

const TTL_SECONDS = 3_600
const UPDATE_SECONDS = 10
const LOOKUP = { timeout: 2_000, tries: 2 }

/** Reverse names by signed dynamic updates (RFC 2136), which the program `nsupdate` sends. */
export function nsupdateReverseDns({ server, key, resolver: asked }: NsupdateOptions): ReverseDns {
  return {
    async publish(address, hostname) {
      const name = reverseName(address)
      const input = [
        `server ${server.host} ${server.port}`,
        `key ${key.algorithm}:${key.name} ${key.secret}`,
        `update delete ${name} PTR`,
        ...(hostname === null ? [] : [`update add ${name} ${TTL_SECONDS} PTR ${hostname}.`]),
        'send',
        '',
      ].join('\n')
      // By TCP; the key comes by standard input, which no other process of the host reads.
      await runCommand('nsupdate', ['-v', '-t', String(UPDATE_SECONDS)], {
        input,
        timeoutMs: 2 * UPDATE_SECONDS * 1_000,
      })
    },

    async leadsTo(hostname, address) {
      const resolver = new Resolver(LOOKUP)
      if (asked) resolver.setServers([`${isIPv6(asked.host) ? `[${asked.host}]` : asked.host}:${asked.port}`])
      const isIpv6 = address.includes(':')
      // A name that does not exist, or that no server answers for, leads nowhere now.
      const found: string[] = await (isIpv6
        ? resolver.resolve6(hostname)
        : resolver.resolve4(hostname)
      ).catch(() => [])
      return isIpv6 ? found.some((one) => ipv6Digits(one) === ipv6Digits(address)) : found.includes(address)
    },
  }
}
