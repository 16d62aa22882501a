import { crc32 } from 'node:zlib'
import type { Random } from '../platform/services.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const PREFIX = 'crk_'
const LENGTH = 40
const CHECK_LENGTH = 6
const FORM = /^crk_[0-9A-Za-z]{46}$/

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

/** Whether a text can be a token at all: a mistyped one is refused without asking the database. */
export function isToken(text: string): boolean {
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
