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
    ...(slot === undefined ? [] : ['slot', ...(await rulesTo(linkAddresses(slot).machine))]),
  ]
}

/** The rules of the host that name an address. */
export async function rulesTo(address: string): Promise<string[]> {
  const { stdout } = await runCommand('nft', ['list', 'table', 'inet', HOST_TABLE])
  return stdout.split('\n').filter((line) => line.includes(`${address} .`))
}
