import { createHash, createPrivateKey, createPublicKey, hkdfSync, sign } from 'node:crypto'
import { canonicalJson, type SignedReceipt } from '@coinrack/contract/receipts.ts'

/** The operator's key for receipts. */
export interface ReceiptKey {
  /** As in a JWK Set (RFC 7517; Ed25519: RFC 8037). */
  publicJwk: { kty: 'OKP'; crv: 'Ed25519'; x: string; kid: string; use: 'sig'; alg: 'EdDSA' }
  sign(receipt: SignedReceipt['receipt']): SignedReceipt
}

/** A private key of Ed25519 as PKCS #8 (RFC 8410, section 7) is this and then its 32 bytes. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The key by HKDF-SHA256 (RFC 5869) from a secret of at least 128 bits: the same secret, the same key. */
export function createReceiptKey(secret: string): ReceiptKey {
  const seed = Buffer.from(hkdfSync('sha256', secret, '', 'coinrack receipts', 32))
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_HEAD, seed]),
    format: 'der',
    type: 'pkcs8',
  })
  const x = createPublicKey(privateKey).export({ format: 'jwk' }).x!
  const kid = createHash('sha256')
    .update(canonicalJson({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url')
  return {
    publicJwk: { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' },
    sign: (receipt) => ({
      receipt,
      signature: {
        algorithm: 'Ed25519',
        key_id: kid,
        public_key: x,
        value: sign(null, Buffer.from(canonicalJson(receipt)), privateKey).toString('base64url'),
      },
    }),
  }
}
