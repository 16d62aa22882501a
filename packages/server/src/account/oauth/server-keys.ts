import { createPrivateKey, hkdfSync } from 'node:crypto'

/** PKCS #8 of an Ed25519 key, up to its 32 bytes (RFC 8410, section 7). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The keys of the authorization server, from the server secret: the same in every replica, and stored nowhere. */
export interface ServerKeys {
  /** Signs cookies. */
  cookies: string
  /** Would sign ID tokens, which are not issued: the library wants to have one. Ed25519. */
  signing: JsonWebKey & { kty: string }
}

export function serverKeys(serverSecret: string): ServerKeys {
  const derive = (what: string) =>
    Buffer.from(hkdfSync('sha256', serverSecret, '', `coinrack oauth ${what}`, 32))
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8, derive('signing')]),
    format: 'der',
    type: 'pkcs8',
  })
  return {
    cookies: derive('cookies').toString('hex'),
    signing: { ...key.export({ format: 'jwk' }), kty: 'OKP', alg: 'EdDSA', use: 'sig' },
  }
}
