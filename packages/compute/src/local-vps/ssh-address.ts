import { networkInterfaces } from 'node:os'
import type { SshAddress } from '../ports/vps-driver.ts'

const EVERYWHERE = '0.0.0.0'

/** Where to listen for an address: there, or on all of this host's addresses when it is not one of them (NAT). */
export function listenAddress({ host, port }: SshAddress): SshAddress {
  const own = Object.values(networkInterfaces()).flatMap((addresses) =>
    addresses?.map(({ address }) => address),
  )
  const isOwn = host.startsWith('127.') || own.includes(host)
  return { host: isOwn ? host : EVERYWHERE, port }
}

/** Where this host itself reaches what listens at an address. */
export function localAddress({ host, port }: SshAddress): SshAddress {
  return { host: host === EVERYWHERE ? '127.0.0.1' : host, port }
}
