import { runCommand } from '@coinrack/host/run-command.ts'
import type { SshAddress } from '../ports/vps-driver.ts'

const TIMEOUT_SECONDS = 3

/**
 * Whether the SSH server at the address shows this host key.
 * @param publicKey its line, `ssh-ed25519 AAAA...`, with or without a comment
 */
export async function hasHostKey({ host, port }: SshAddress, publicKey: string): Promise<boolean> {
  const [type, key] = publicKey.split(' ')
  const args = ['-T', String(TIMEOUT_SECONDS), '-p', String(port), '-t', 'ed25519', host]
  // It ends with an error when no server answers.
  const { stdout } = await runCommand('ssh-keyscan', args).catch(() => ({ stdout: '' }))
  return stdout.split('\n').some((line) => line.endsWith(` ${type} ${key}`))
}
