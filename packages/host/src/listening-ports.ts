import { readFile } from 'node:fs/promises'

/** In `/proc/net/tcp`: the state of a socket that waits for connections. */
const LISTEN = '0A'

/**
 * The TCP ports of this host, or of the network namespace that the caller is in, on which something listens, on whatever
 * address. Source of the format: proc_net_tcp.rst of the kernel's documentation.
 */
export async function listeningPorts(): Promise<Set<number>> {
  const tables = await Promise.all([readTable('/proc/net/tcp'), readTable('/proc/net/tcp6')])
  return new Set(tables.flatMap(portsOf))
}

/** A kernel without IPv6 has no table of it. */
const readTable = (path: string) => readFile(path, 'latin1').catch(() => '')

function portsOf(table: string): number[] {
  return table
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local, , state] = line.trim().split(/\s+/)
      return local !== undefined && state === LISTEN ? [Number.parseInt(local.split(':')[1]!, 16)] : []
    })
}
