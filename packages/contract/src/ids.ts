import { z } from 'zod'

/** The kinds of things that have an identifier, by prefix. */
export const idPrefixes = {
  account: 'acc',
  token: 'tok',
  invoice: 'inv',
  order: 'ord',
  service: 'vps',
  transaction: 'txn',
  review: 'rev',
  hold: 'hld',
  deposit: 'dep',
  operation: 'op',
  snapshot: 'snp',
  ssh_key: 'key',
  event: 'evt',
  webhook: 'whk',
  delivery: 'dlv',
  ticket: 'tkt',
  delegation: 'dlg',
  sandbox: 'sbx',
  task: 'tsk',
  refund: 'rfd',
  approval: 'apr',
  template: 'tpl',
  build: 'bld',
  upload: 'upl',
} as const

export type IdKind = keyof typeof idPrefixes

/** The prefix of the 26 characters. Identifiers of sandboxes become names of hosts: letters and digits alone. */
const headOf = (kind: IdKind) => (kind === 'sandbox' ? idPrefixes[kind] : `${idPrefixes[kind]}_`)

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz'

/**
 * An identifier: prefix, then 48 bits of milliseconds and 80 random bits as 26 lowercase Crockford
 * base32 characters (the ULID layout), so that identifiers sort by the time they were made.
 * @param random 10 random bytes
 */
export function makeId(kind: IdKind, milliseconds: number, random: Uint8Array): string {
  let value = BigInt(milliseconds)
  for (const byte of random.subarray(0, 10)) value = (value << 8n) | BigInt(byte)
  let text = ''
  for (let index = 0; index < 26; index++) {
    text = CROCKFORD[Number(value & 31n)] + text
    value >>= 5n
  }
  return `${headOf(kind)}${text}`
}

/** Whether a text has the form of an identifier of this kind. */
export const isId = (kind: IdKind, text: string) =>
  text.startsWith(headOf(kind)) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(headOf(kind).length))

/** An identifier on the wire. Its form is not checked here: an id of the wrong form is an unknown id. */
export const Id = (kind: IdKind) => z.string().describe(`Identifier: ${headOf(kind)}...`)
