import { join } from 'node:path'
import type { AddCommands } from '../add-command.ts'
import { all } from '../collect.ts'
import { configFolder, writePrivate } from '../config-folder.ts'
import { sandboxHost, sandboxKey } from '../sandbox-ssh.ts'
import { keepHostKeys, plainAccess, strictOptions } from '../ssh-access.ts'

const NAME = /^[0-9a-z][0-9a-z.-]*$/

export const sshConfig: AddCommands = (program, act) => {
  program
    .command('ssh-config')
    .description(
      'show a configuration for ssh, scp and editors, which know the VPS and sandboxes by name then',
    )
    .option('--write', 'keep it as a file, which ~/.ssh/config includes')
    .action(
      act(async (call, { write }: { write?: boolean }) => {
        const { env } = call.terminal
        const { url } = await call.service()
        const hosts: Host[] = []
        for (const vps of await all((await call.client()).listVps.all())) {
          if (!vps.ssh_ready || !NAME.test(vps.hostname)) continue
          const { host, port, user, known_hosts } = vps.ssh
          const access = plainAccess({ host, port, username: user, knownHosts: known_hosts, command: '' })
          const file = await keepHostKeys(env, vps.id, access.knownHosts)
          hosts.push({
            name: vps.hostname,
            options: [
              ['HostName', access.host],
              ['Port', String(access.port)],
              ['User', access.username],
              ...strictOptions(file),
            ],
          })
        }
        await sandboxKey(env)
        hosts.push({ name: 'sbx*', options: sandboxHost(env, url) })
        const text = configOf(hosts, url)
        if (!write) return call.show(hosts, () => text)
        const path = join(configFolder(env), 'ssh_config')
        await writePrivate(path, text)
        call.show({ path, hosts }, () => `Written. Put this line first into ~/.ssh/config: Include "${path}"`)
      }),
    )
}

interface Host {
  name: string
  options: [string, string][]
}

const configOf = (hosts: Host[], url: string) =>
  [
    `# Written by "coinrack ssh-config" for ${url}`,
    ...hosts.flatMap(({ name, options }) => [
      '',
      `Host ${name}`,
      ...options.map(([key, value]) => `  ${key} ${value}`),
    ]),
    '',
  ].join('\n')
