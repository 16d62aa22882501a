import { type ChildProcess, spawn } from 'node:child_process'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { asUserWithCaller } from '@coinrack/host/as-user.ts'
import { freePort } from '@coinrack/host/free-port.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import type { UpdateKey } from './nsupdate.ts'

/** The name server of Debian's package knot, with zones that a key may change. */
export interface TestNameServer {
  port: number
  close(): Promise<void>
}

/** @param zones each with the lines of its records, beside SOA and NS */
export async function startNameServer(
  key: UpdateKey,
  zones: Record<string, string[]>,
): Promise<TestNameServer> {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-dns-'))
  const port = await freePort()
  const user = await serviceUser()
  const config = [
    'server:',
    `  rundir: ${folder}`,
    `  listen: 127.0.0.1@${port}`,
    'database:',
    `  storage: ${folder}`,
    'log:',
    '  - target: stderr',
    '    any: warning',
    'key:',
    `  - id: ${key.name}`,
    `    algorithm: ${key.algorithm}`,
    `    secret: ${key.secret}`,
    'acl:',
    '  - id: updates',
    `    key: ${key.name}`,
    '    action: update',
    'template:',
    '  - id: default',
    `    storage: ${folder}`,
    '    file: "%s.zone"',
    '    acl: updates',
    'zone:',
    ...Object.keys(zones).map((domain) => `  - domain: ${domain}`),
    '',
  ]
  const files = [
    ['knot.conf', config.join('\n')] as const,
    ...Object.entries(zones).map(([domain, records]) => {
      const head = [
        `$ORIGIN ${domain}`,
        '$TTL 60',
        '@ SOA ns.invalid. admin.invalid. 1 60 60 60 60',
        '@ NS ns.invalid.',
      ]
      return [`${domain}zone`, [...head, ...records, ''].join('\n')] as const
    }),
  ]
  for (const [name, text] of files) {
    await writeFile(join(folder, name), text)
    if (user) await chown(join(folder, name), user.uid, user.gid)
  }
  if (user) await chown(folder, user.uid, user.gid)
  const [command, args] = asUserWithCaller(user, 'knotd', ['--config', join(folder, 'knot.conf')])
  const child: ChildProcess = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  const ended = once(child, 'exit')
  await untilItAnswers(port, Object.keys(zones)[0]!, child)
  return {
    port,
    async close() {
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true })
    },
  }
}

async function untilItAnswers(port: number, zone: string, child: ChildProcess): Promise<void> {
  const resolver = new Resolver({ timeout: 500, tries: 1 })
  resolver.setServers([`127.0.0.1:${port}`])
  for (;;) {
    if (child.exitCode !== null) throw new Error(`knotd ended with ${child.exitCode}`)
    const found = await resolver.resolveSoa(zone).catch(() => undefined)
    if (found) return
    await sleep(50)
  }
}
