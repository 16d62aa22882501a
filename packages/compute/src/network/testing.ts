import { existsSync } from 'node:fs'
import { runCommand } from '@coinrack/host/run-command.ts'
import { linkAddresses, linkName, namespaceFile } from './addresses.ts'
import { HOST_TABLE } from './host-ruleset.ts'
import { slotOf } from './link-slots.ts'

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
