import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { runCommand } from '@coinrack/host/run-command.ts'
import { linkAddresses, linkName, namespaceFile } from './addresses.ts'
import { HOST_TABLE } from './host-ruleset.ts'
import { slotOf } from './link-slots.ts'
import { defaultEgress, type EgressPolicy } from './machine-ruleset.ts'

/** The default, but for networks in which a test plays the internet. */
export function egressTo(...networks: string[]): EgressPolicy {
  const blockedNetworks = defaultEgress.blockedNetworks.filter((network) => !networks.includes(network))
  return { ...defaultEgress, blockedNetworks }
}

/**
 * Whether a program with no right but those of a user gets through from a namespace by its own sockets, as a QEMU tries
 * that its guest has taken over: `yes`, also for a datagram that the kernel takes, or `no`.
 * @param namespace a file such as `/proc/PID/ns/net`
 */
export async function asProcessOf(
  namespace: string,
  { uid, gid }: { uid: number; gid: number },
  host: string,
  port: number,
  protocol: 'tcp' | 'udp' = 'tcp',
): Promise<string> {
  const rights = [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--no-new-privs',
    '--bounding-set=-all',
  ]
  // A datagram is one query for the address of "a." in the form of RFC 1035.
  const query = '\\\\0\\\\7\\\\1\\\\0\\\\0\\\\1\\\\0\\\\0\\\\0\\\\0\\\\0\\\\0\\\\1a\\\\0\\\\0\\\\1\\\\0\\\\1'
  const script = `exec 5<>/dev/${protocol}/${host}/${port} && ${protocol === 'tcp' ? ':' : `printf ${query} >&5`}`
  const inside = ['setpriv', ...rights, '--inh-caps=-all', 'timeout', '2', 'bash', '-c', script]
  return runCommand('nsenter', [`--net=${namespace}`, ...inside]).then(
    () => 'yes',
    () => 'no',
  )
}

/** The same as the user of a process, in its namespace. */
export async function asProcess(pid: number, host: string, port: number, protocol: 'tcp' | 'udp' = 'tcp') {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const number = (name: string) => Number(new RegExp(`^${name}:\\t\\d+\\t(\\d+)`, 'm').exec(status)![1])
  const user = { uid: number('Uid'), gid: number('Gid') }
  return asProcessOf(`/proc/${pid}/ns/net`, user, host, port, protocol)
}

/** Whatever there is of a machine's network on this host. */
export async function networkTraces(id: string): Promise<string[]> {
  const slot = await slotOf(id)
  return [
    ...(existsSync(namespaceFile(id)) ? ['namespace'] : []),
    ...(existsSync(`/sys/class/net/${linkName(id)}`) ? ['link'] : []),
    ...(existsSync(`/run/coinrack/resolvers/${id}`) ? ['resolver'] : []),
    ...(slot === undefined ? [] : ['slot', ...(await rulesTo(linkAddresses(slot).machine))]),
  ]
}

/** The rules of the host that name an address. */
export async function rulesTo(address: string): Promise<string[]> {
  const { stdout } = await runCommand('nft', ['list', 'table', 'inet', HOST_TABLE])
  return stdout.split('\n').filter((line) => line.includes(`${address} .`))
}

/** Whatever there is of an address of a machine's own on this host. */
export async function addressTraces(address: string): Promise<string[]> {
  const listings = await Promise.all([
    runCommand('ip', ['route']),
    runCommand('ip', ['rule']),
    runCommand('ip', ['-4', 'neigh', 'show', 'proxy']),
    runCommand('ip', ['-6', 'route']),
    runCommand('ip', ['-6', 'neigh', 'show', 'proxy']),
    runCommand('nft', ['list', 'table', 'inet', HOST_TABLE]),
  ])
  return listings
    .flatMap(({ stdout }) => stdout.split('\n'))
    .filter((line) =>
      new RegExp(`(^|[^0-9a-f.:])${address.replaceAll('.', '\\.')}([^0-9a-f.:]|$)`).test(line),
    )
}
