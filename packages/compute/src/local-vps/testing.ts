import { rmSync } from 'node:fs'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@coinrack/host/free-port.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import type { VpsSpec } from '../ports/vps-driver.ts'
import { makeSpec } from '../testing.ts'

/** The means by which a client is let into a machine, and knows that it is the right one. */
export interface SshAccess {
  spec: VpsSpec
  password: string
  /** Runs a command inside and returns what it printed. */
  byKey(command: string, input?: Uint8Array): Promise<string>
  byPassword(command: string): Promise<string>
}

/** A guest that installs something takes minutes under emulation. */
const LONGEST_MS = 5 * 60_000
const PASSWORD = 'correct horse battery staple'

/** A spec of a new machine with keys and a password that really work, and the `ssh` that uses them. */
export async function makeSshAccess(change: Partial<VpsSpec> = {}): Promise<SshAccess> {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-ssh-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const own = await makeKey(join(folder, 'own'))
  const host = await makeKey(join(folder, 'host'))
  const hash = await runCommand('openssl', ['passwd', '-6', '-stdin'], { input: PASSWORD })
  const port = change.sshAddress?.port ?? (await freePort())
  const spec = makeSpec({
    sshAuthorizedKeys: [own.publicKey],
    rootPasswordHash: hash.stdout.trim(),
    sshHostKey: host,
    sshAddress: { host: '127.0.0.1', port },
    ...change,
  })

  const knownHosts = join(folder, 'known_hosts')
  // A machine that shares the host's address is reached on loopback too.
  const at = spec.addresses?.ipv4 ?? '127.0.0.1'
  await writeFile(knownHosts, `${port === 22 ? at : `[${at}]:${port}`} ${host.publicKey}\n`)
  const askPass = join(folder, 'ask-pass')
  await writeFile(askPass, `#!/bin/sh\necho '${PASSWORD}'\n`, { mode: 0o700 })

  const ssh = async (
    options: string[],
    command: string,
    { env = {}, input }: { env?: Record<string, string>; input?: Uint8Array | undefined } = {},
  ) => {
    const strict = ['-F', 'none', '-o', `UserKnownHostsFile=${knownHosts}`, '-o', 'StrictHostKeyChecking=yes']
    const target = ['-o', 'ConnectTimeout=60', '-p', String(port), `root@${at}`, command]
    const { stdout } = await runCommand('ssh', [...strict, ...options, ...target], {
      env,
      timeoutMs: LONGEST_MS,
      ...(input && { input }),
    })
    return stdout.trim()
  }
  return {
    spec,
    password: PASSWORD,
    byKey: (command, input) =>
      ssh(['-i', join(folder, 'own'), '-o', 'IdentitiesOnly=yes', '-o', 'BatchMode=yes'], command, { input }),
    byPassword: (command) =>
      ssh(['-o', 'PubkeyAuthentication=no', '-o', 'PreferredAuthentications=password'], command, {
        env: { SSH_ASKPASS: askPass, SSH_ASKPASS_REQUIRE: 'force' },
      }),
  }
}

async function makeKey(path: string): Promise<{ privateKey: string; publicKey: string }> {
  await runCommand('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', path])
  return {
    privateKey: await readFile(path, 'utf8'),
    publicKey: (await readFile(`${path}.pub`, 'utf8')).trim(),
  }
}
