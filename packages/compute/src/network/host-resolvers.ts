import { readFile } from 'node:fs/promises'
import { isIPv4 } from 'node:net'

/** The second one is where systemd-resolved, itself on loopback, writes down whom it asks. */
const FILES = ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf']

/** The DNS servers that this host asks and that guests could ask too: IPv4, not on its loopback. */
export async function hostResolvers(): Promise<string[]> {
  for (const file of FILES) {
    const found = parseResolvers(await readFile(file, 'utf8').catch(() => ''))
    if (found.length > 0) return found
  }
  return []
}

/** From the text of resolv.conf(5). */
export const parseResolvers = (text: string) =>
  text
    .split('\n')
    .map((line) => /^nameserver\s+(\S+)/.exec(line)?.[1] ?? '')
    .filter((address) => isIPv4(address) && !address.startsWith('127.'))
