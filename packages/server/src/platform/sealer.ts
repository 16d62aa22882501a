import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto'
import type { Random } from './services.ts'

const NONCE = 12
const TAG = 16

/** Encrypts what must not be readable in the database. `context` names what it is: it must be the same to open. */
export interface Sealer {
  seal(text: string, context: string): Buffer
  /** @throws when the bytes were changed, or sealed with another key or context */
  open(sealed: Buffer, context: string): string
}

/** AES-256-GCM with a random nonce; the key by HKDF-SHA256 (RFC 5869) from a secret of at least 128 bits. */
export function createSealer(secret: string | Uint8Array, random: Random): Sealer {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'coinrack sealer', 32))
  return {
    seal(text, context) {
      const nonce = random.bytes(NONCE)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
      return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    open(sealed, context) {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE))
        .setAAD(Buffer.from(context))
        .setAuthTag(sealed.subarray(-TAG))
      return decipher.update(sealed.subarray(NONCE, -TAG), undefined, 'utf8') + decipher.final('utf8')
    },
  }
}

export const sha256 = (text: string) => createHash('sha256').update(text).digest()
