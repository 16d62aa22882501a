import { readFile } from 'node:fs/promises'
import { ReceiptError, verifyReceipt } from '@coinrack/sdk/verify-receipt.ts'
import { RefusedError } from './exit-codes.ts'

/**
 * Checks the receipt of a file.
 * @param key the operator's public key, or a file with it or with the set that the operator publishes
 * @returns the receipt, and what is said of it
 * @throws RefusedError when it does not hold
 */
export async function verifyReceiptFile(path: string, key: string | undefined) {
  const text = await readText(path)
  const keys = key === undefined ? undefined : await readKeys(key)
  const { receipt, signature } = await verify(text, keys)
  const payer = receipt.name === null ? receipt.email : `${receipt.name}, ${receipt.email}`
  const lines = [
    `The receipt holds: ${receipt.amount} ${receipt.currency}, invoice ${receipt.invoice_id}, paid at ${receipt.paid_at} by ${payer} to ${receipt.issuer}`,
    ...receipt.charges.map(({ amount, description }) => `  charged ${amount}: ${description}`),
    ...receipt.payments.map(
      ({ amount, token, network, tx_hash }) => `  received ${amount} ${token} on ${network}: ${tx_hash}`,
    ),
    keys
      ? `It is signed with the key that you gave, ${signature.public_key}`
      : `It is signed with ${signature.public_key}. Whose key that is was not checked: compare it with ${receipt.issuer}/.well-known/jwks.json, or give it with --key`,
  ]
  return { receipt: { receipt, signature }, lines }
}

/** By whichever of the keys it names, or else by the first, which tells that it is another. */
async function verify(text: string, keys: string[] | undefined) {
  try {
    const { signature } = await verifyReceipt(text)
    const key = keys?.find((known) => known === signature.public_key) ?? keys?.[0]
    return await verifyReceipt(text, key)
  } catch (error) {
    if (error instanceof ReceiptError) throw new RefusedError(error.message)
    throw error
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new RefusedError(`Cannot read ${path}: ${(error as Error).message}`)
  }
}

const PUBLIC_KEY = /^[\w-]{43}$/

/** Public keys as in a JWK: 32 bytes in base64url. */
async function readKeys(given: string): Promise<[string, ...string[]]> {
  const text = PUBLIC_KEY.test(given) ? given : (await readText(given)).trim()
  const keys = PUBLIC_KEY.test(text) ? [text] : keysOfSet(text)
  if (!keys[0]) throw new RefusedError(`${given} holds no public key of Ed25519`)
  return [keys[0], ...keys.slice(1)]
}

function keysOfSet(text: string): string[] {
  try {
    const { keys } = JSON.parse(text) as { keys: { crv?: string; x?: string }[] }
    return keys.flatMap(({ crv, x }) =>
      crv === 'Ed25519' && x !== undefined && PUBLIC_KEY.test(x) ? [x] : [],
    )
  } catch {
    return []
  }
}
