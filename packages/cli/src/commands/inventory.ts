import type { AddCommands } from '../add-command.ts'
import { toJson } from '../call.ts'
import { all } from '../collect.ts'
import { exitCodes, RefusedError } from '../exit-codes.ts'
import type { FoundVps } from '../find.ts'
import { shellWord } from '../shell-words.ts'
import { keepHostKeys, optionWords, plainAccess, strictOptions } from '../ssh-access.ts'
import type { Terminal } from '../terminal.ts'

/** The answer of an inventory script of Ansible (docs.ansible.com, "Developing dynamic inventory"). */
interface Inventory {
  _meta: { hostvars: Record<string, Record<string, unknown>> }
  [group: string]: { hosts?: string[]; children?: string[] } | Inventory['_meta']
}

export const inventory: AddCommands = (program, act) => {
  program
    .command('inventory')
    .description('answer as an inventory script of Ansible, of the VPS that SSH reaches')
    .option('--list', 'all groups and hosts')
    .option('--host <name>', 'the variables of one host')
    .action(
      act(async (call, { list, host }: { list?: boolean; host?: string }) => {
        if ((list === undefined) === (host === undefined))
          throw new RefusedError('Give --list or --host <name>, as Ansible does', exitCodes.usage)
        const found = (await all((await call.client()).listVps.all())).filter(({ ssh_ready }) => ssh_ready)
        const answer = await inventoryOf(call.terminal.env, found)
        const shown = host === undefined ? answer : (answer._meta.hostvars[host] ?? {})
        call.show(shown, () => toJson(shown))
      }),
    )
}

/** By the host name; several machines with one name have their identifier. */
async function inventoryOf(env: Terminal['env'], found: FoundVps[]): Promise<Inventory> {
  const groups = new Map<string, string[]>()
  const hostvars: Record<string, Record<string, unknown>> = {}
  for (const vps of found) {
    const isTwin = found.some((other) => other !== vps && other.hostname === vps.hostname)
    const name = isTwin ? vps.id : vps.hostname
    hostvars[name] = await variablesOf(env, vps)
    for (const group of [`plan_${vps.product}`, `region_${vps.region}`, `os_${vps.os.name}`]) {
      const key = group.toLowerCase().replace(/\W+/g, '_').replace(/_$/, '')
      groups.set(key, [...(groups.get(key) ?? []), name])
    }
  }
  return {
    _meta: { hostvars },
    all: { children: ['coinrack', 'ungrouped'] },
    coinrack: { hosts: Object.keys(hostvars), children: [...groups.keys()] },
    ...Object.fromEntries([...groups].map(([name, hosts]) => [name, { hosts }])),
  }
}

async function variablesOf(env: Terminal['env'], vps: FoundVps): Promise<Record<string, unknown>> {
  const { host, port, user, known_hosts } = vps.ssh
  const access = plainAccess({ host, port, username: user, knownHosts: known_hosts, command: '' })
  const file = await keepHostKeys(env, vps.id, access.knownHosts)
  return {
    ansible_host: access.host,
    ansible_port: access.port,
    ansible_user: access.username,
    ansible_ssh_common_args: optionWords(strictOptions(file)).map(shellWord).join(' '),
    coinrack_id: vps.id,
    coinrack_plan: vps.product,
    coinrack_region: vps.region,
    coinrack_os: vps.os.name,
    coinrack_status: vps.status,
    coinrack_paid_until: vps.billing?.paid_until ?? null,
  }
}
