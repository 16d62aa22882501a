import { runCommand } from '@coinrack/host/run-command.ts'
import { demandNoTransaction } from '../../database/transaction.ts'
import type { RootPassword } from '../../platform/host-facts.ts'
import type { Random } from '../../platform/services.ts'

/** No characters that look alike, and none that a shell or a terminal takes for its own. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const LENGTH = 20

/** A password of 116 bits. */
export function makeRootPassword(random: Random): string {
  const largest = 256 - (256 % ALPHABET.length)
  let password = ''
  while (password.length < LENGTH) {
    for (const byte of random.bytes(LENGTH)) {
      if (byte < largest && password.length < LENGTH) password += ALPHABET[byte % ALPHABET.length]
    }
  }
  return password
}

/** The crypt(3) hash (SHA-512) that a guest's `/etc/shadow` takes: the machine never sees more than this. */
export async function hashRootPassword(password: string): Promise<string> {
  demandNoTransaction('The hash of a root password')
  const { stdout } = await runCommand('openssl', ['passwd', '-6', '-stdin'], {
    input: password,
    timeoutMs: 10_000,
  })
  return stdout.trim()
}

/** A new password with its hash, for a transaction that wants one. */
export async function newRootPassword(random: Random): Promise<RootPassword> {
  const plain = makeRootPassword(random)
  return { plain, hash: await hashRootPassword(plain) }
}
