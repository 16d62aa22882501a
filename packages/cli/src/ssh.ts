import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'

export interface SshKey {
  privateKeyFile: string
  /** One line, as `order_vps` takes it. */
  publicKey: string
}

const CONNECT_SECONDS = 15

/** A new ed25519 key in a folder, made by `ssh-keygen`. */
export async function makeSshKey(folder: string): Promise<SshKey> {
  const privateKeyFile = join(folder, 'id_ed25519')
  await runCommand('ssh-keygen', [
    '-q',
    '-t',
    'ed25519',
    '-N',
    '',
    '-C',
    'coinrack-demo',
    '-f',
    privateKeyFile,
  ])
  return { privateKeyFile, publicKey: (await readFile(`${privateKeyFile}.pub`, 'utf8')).trim() }
}

/**
 * The arguments of `ssh` into a machine: with this key alone, and only when the machine proves to hold a host key
 * that the service printed.
 * @param folder where its `known_hosts` file is written
 */
export async function sshArguments(
  folder: string,
  key: SshKey,
  access: { host: string; port: number; user: string; known_hosts: string[] },
): Promise<string[]> {
  const knownHosts = join(folder, 'known_hosts')
  await writeFile(knownHosts, `${access.known_hosts.join('\n')}\n`)
  return [
    ...['-i', key.privateKeyFile, '-o', 'IdentitiesOnly=yes'],
    ...['-o', `UserKnownHostsFile=${knownHosts}`, '-o', 'StrictHostKeyChecking=yes'],
    ...['-p', String(access.port), `${access.user}@${access.host}`],
  ]
}

/** Runs a command in the machine and returns what it printed. */
export async function runInGuest(args: string[], command: string): Promise<string> {
  const unattended = ['-o', 'BatchMode=yes', '-o', `ConnectTimeout=${CONNECT_SECONDS}`]
  const { stdout } = await runCommand('ssh', [...unattended, ...args, command], { timeoutMs: 60_000 })
  return stdout.trim()
}
