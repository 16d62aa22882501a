import { createHmac } from 'node:crypto'
import type { Random, Services } from '../platform/services.ts'

/** Crockford's base 32: no letter is taken for a digit. https://www.crockford.com/base32.html */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LONG = 12

/** Six digits, or twelve characters: 60 bits, which cannot be guessed. Each code is as likely as any other. */
export function makeCode(random: Random, kind: 'short' | 'long'): string {
  if (kind === 'long') return [...random.bytes(LONG)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('')
  for (;;) {
    const number = Buffer.from(random.bytes(4)).readUInt32BE()
    if (number < 4_294_000_000) return String(number % 1_000_000).padStart(6, '0')
  }
}

/** As people read and type it: a long one in groups of four. */
export const writtenCode = (code: string) =>
  code.length === LONG ? code.replace(/(.{4})(?=.)/g, '$1-') : code

/** The code in a text as a person typed it. */
const readCode = (text: string) =>
  text.replace(/[\s-]/g, '').toUpperCase().replaceAll('O', '0').replace(/[IL]/g, '1')

/** A million codes are soon tried against a plain hash: this one needs the server secret. */
export const hashCode = ({ config }: Services, email: string, code: string) =>
  createHmac('sha256', config.serverSecret!)
    .update(`login-code\n${email}\n${readCode(code)}`)
    .digest()
