import { crc32 } from 'node:zlib'
import type { Random } from '../platform/services.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const PREFIX = 'crk_'
const LENGTH = 40
const CHECK_LENGTH = 6
const FORM = /^crk_[0-9A-Za-z]{46}$/
/** The form that E2B's clients ask for: they refuse others before they send anything. */
const E2B_FORM = /^e2b_[0-9a-f]{40}$/
const E2B_BYTES = 20

/** A new token: `crk_`, 40 random base62 characters (238 bits) and 6 that check them. */
export function makeToken(random: Random): string {
  let text = ''
  while (text.length < LENGTH) {
    for (const byte of random.bytes(LENGTH)) {
      // 248 is the largest multiple of 62 in a byte: what lies above it would make some characters likelier.
      if (byte < 248 && text.length < LENGTH) text += ALPHABET[byte % 62]
    }
  }
  return PREFIX + text + checksum(text)
}

/** A new token that E2B's clients take for a key of theirs: `e2b_` and 40 random hexadecimal digits (160 bits). */
export const makeE2bToken = (random: Random): string =>
  `e2b_${Buffer.from(random.bytes(E2B_BYTES)).toString('hex')}`

/** Whether a text can be a token at all: a mistyped one is refused without asking the database. */
export function isToken(text: string): boolean {
  if (E2B_FORM.test(text)) return true
  if (!FORM.test(text)) return false
  const body = text.slice(PREFIX.length)
  return checksum(body.slice(0, LENGTH)) === body.slice(LENGTH)
}

/** Whether a text can be an access token of the authorization server: 256 bits in base64url. */
export const isAccessToken = (text: string) => /^[\w-]{43}$/.test(text)

/** CRC-32 of the text, in base62. */
function checksum(text: string): string {
  let value = crc32(text)
  let result = ''
  for (let index = 0; index < CHECK_LENGTH; index++) {
    result = ALPHABET[value % 62] + result
    value = Math.floor(value / 62)
  }
  return result
}
