import { answersSsh } from '@coinrack/host/answers-ssh.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import type { SshAddress } from '../ports/vps-driver.ts'

/** On a busy host with emulation the exchange of keys takes seconds, although the server answers at once. */
const EXCHANGE_SECONDS = 20

/**
 * Whether the SSH server at the address shows this host key. Where none answers that is known soon.
 * @param publicKey its line, `ssh-ed25519 AAAA...`, with or without a comment
 */
export async function hasHostKey(address: SshAddress, publicKey: string): Promise<boolean> {
  if (!(await answersSsh(address))) return false
  const { host, port } = address
  const [type, key] = publicKey.split(' ')
  const args = ['-T', String(EXCHANGE_SECONDS), '-p', String(port), '-t', 'ed25519', host]
  // It ends with an error when the server breaks off.
  const { stdout } = await runCommand('ssh-keyscan', args).catch(() => ({ stdout: '' }))
  return stdout.split('\n').some((line) => line.endsWith(` ${type} ${key}`))
}
