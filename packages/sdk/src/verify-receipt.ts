import { canonicalJson, SignedReceipt } from '@coinrack/contract/receipts.ts'

/** A receipt does not hold, and why, for people. */
export class ReceiptError extends Error {
  override readonly name = 'ReceiptError'
  readonly code: 'no_receipt' | 'changed' | 'other_key'

  constructor(code: ReceiptError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/**
 * Checks a stored receipt of `get_receipt` offline: that no part of it was changed since it was signed, and by whom.
 * @param text of the file
 * @param publicKey of the operator whose receipt it has to be, as in its `/.well-known/jwks.json` (`x`). Without one it
 * is only certain that the receipt is as the holder of the key in it signed it
 * @throws ReceiptError
 */
export async function verifyReceipt(text: string, publicKey?: string): Promise<SignedReceipt> {
  const file = parse(text)
  const { data, error } = SignedReceipt.safeParse(file)
  if (error) {
    const { path, message } = error.issues[0]!
    throw new ReceiptError('no_receipt', `This is no whole receipt: ${path.join('.') || 'it'}: ${message}`)
  }
  const { signature } = data
  if (publicKey !== undefined && signature.public_key !== publicKey) {
    throw new ReceiptError(
      'other_key',
      `It was signed with another key than the one given: with ${signature.public_key}`,
    )
  }
  // The signature is over the receipt as it stands in the file, with members that are not known here.
  const signed = new TextEncoder().encode(canonicalJson((file as SignedReceipt).receipt))
  if (!(await isSignedBy(signature.public_key, signature.value, signed))) {
    throw new ReceiptError(
      'changed',
      'The signature does not fit: the receipt was changed after it was signed, or is signed with another key than it names',
    )
  }
  if (signature.key_id !== (await thumbprint(signature.public_key))) {
    throw new ReceiptError('changed', 'The key_id is not that of the key: the receipt was changed')
  }
  return data
}

function parse(text: string): unknown {
  let file: unknown
  try {
    file = JSON.parse(text)
  } catch {
    throw new ReceiptError('no_receipt', 'This is no receipt: it is not JSON, or was cut off')
  }
  // Where two members have the same name, a program sees the last, and a person perhaps the first.
  const written = [...text.matchAll(/"(?:[^"\\]|\\.)*"\s*(:)?/g)].filter(([, colon]) => colon).length
  if (written !== countMembers(file)) {
    throw new ReceiptError('changed', 'A name stands in it twice: the receipt was changed')
  }
  return file
}

const countMembers = (value: unknown): number =>
  typeof value !== 'object' || value === null
    ? 0
    : Object.values(value).reduce(
        (sum: number, member) => sum + countMembers(member),
        Array.isArray(value) ? 0 : Object.keys(value).length,
      )

/** Ed25519, RFC 8032. */
async function isSignedBy(
  publicKey: string,
  signature: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  try {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey }
    const key = await crypto.subtle.importKey('jwk', jwk, 'Ed25519', false, ['verify'])
    return await crypto.subtle.verify('Ed25519', key, fromBase64Url(signature), bytes)
  } catch {
    return false
  }
}

/** The thumbprint of a public key, RFC 7638. */
async function thumbprint(x: string): Promise<string> {
  const jwk = new TextEncoder().encode(canonicalJson({ crv: 'Ed25519', kty: 'OKP', x }))
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', jwk))
  return toBase64Url(hash)
}

/* RFC 4648 §5. */

/** @throws DOMException for a text that is not base64url */
const fromBase64Url = (text: string) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0))

const toBase64Url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
