import { Decrypter, Encrypter } from 'age-encryption'
import { z } from 'zod'
import { RefusedError } from '../command.ts'

/*
 * All that a replica on another computer has in common with the one that made the bundle, sealed with a passphrase in the
 * format of age (https://age-encryption.org/v1): scrypt, then ChaCha20-Poly1305.
 */

/** The most that a sealed bundle may have: settings, a catalog and certificates are a few kilobytes. */
export const MOST_BYTES = 4 * 2 ** 20

const FileName = z.string().regex(/^[a-z][a-z0-9-]{0,40}\.(json|pem)$/)

const Bundle = z.strictObject({
  format: z.literal('coinrack replica'),
  version: z.literal(1),
  made_at: z.iso.datetime(),
  /** By the name of the setting, as an operator writes them; those that name a file name one of `files`. */
  settings: z.record(z.string().regex(/^[A-Z][A-Z0-9_]{1,60}$/), z.string().regex(/^[^\r\n]*$/)),
  /** Texts by the name of the file. */
  files: z.record(FileName, z.string()),
})
export type Bundle = z.infer<typeof Bundle>

export async function sealBundle(bundle: Bundle, passphrase: string): Promise<Uint8Array> {
  const encrypter = new Encrypter()
  encrypter.setPassphrase(passphrase)
  return encrypter.encrypt(JSON.stringify(Bundle.parse(bundle)))
}

/** @throws RefusedError when the bytes are no whole bundle, or another passphrase sealed them */
export async function openBundle(sealed: Uint8Array, passphrase: string): Promise<Bundle> {
  const decrypter = new Decrypter()
  decrypter.addPassphrase(passphrase)
  try {
    return Bundle.parse(JSON.parse(await decrypter.decrypt(sealed, 'text')))
  } catch (error) {
    throw new RefusedError(
      `The file is not a whole bundle that this passphrase opens: ${(error as Error).message}`,
    )
  }
}
