import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { hostRuleset } from './host-ruleset.ts'

/*
 * Lets this host forward for machines alone, where it forwarded nothing before. Needs root.
 */

const RUN_FOLDER = '/run/coinrack'
/** Networks are changed one at a time on a host. */
export const LOCK_FILE = join(RUN_FOLDER, 'network.lock')

const ipv4 = { switch: '/proc/sys/net/ipv4/ip_forward', mark: join(RUN_FOLDER, 'only-router') }
const ipv6 = { switch: '/proc/sys/net/ipv6/conf/all/forwarding', mark: join(RUN_FOLDER, 'only-router6') }
const IPV6_INTERFACES = '/proc/sys/net/ipv6/conf'

/** The rules of the host, and IPv4. */
export async function loadHostRules(): Promise<void> {
  await mkdir(RUN_FOLDER, { recursive: true, mode: 0o755 })
  await forward(ipv4)
}

/** IPv6, for the first machine that has an address of it. A router takes no advertisements unless it is told to. */
export async function forwardIpv6(): Promise<void> {
  if (await isOn(ipv6.switch)) return loadRules()
  for (const name of await readdir(IPV6_INTERFACES)) {
    const file = join(IPV6_INTERFACES, name, 'accept_ra')
    const isListening = name !== 'all' && name !== 'default' && (await isOn(file))
    if (isListening) await writeFile(file, '2')
  }
  await forward(ipv6)
}

/** The rules come first: at no moment does the host forward for others. */
async function forward(family: typeof ipv4): Promise<void> {
  const isOnBefore = await isOn(family.switch)
  // The mark exists when the host forwarded no such packets before machines came.
  if (!isOnBefore) await writeFile(family.mark, '')
  await loadRules()
  if (!isOnBefore) await writeFile(family.switch, '1')
}

async function loadRules(): Promise<void> {
  const input = hostRuleset({ ipv4: await exists(ipv4.mark), ipv6: await exists(ipv6.mark) })
  await runCommand('nft', ['-f', '-'], { input })
}

const isOn = async (file: string) => (await readFile(file, 'utf8')).trim() === '1'
const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )
