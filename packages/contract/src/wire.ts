import { z } from 'zod'

/** A call worth making next, for a caller that decides by itself. */
export const NextStep = z.object({
  tool: z.string(),
  why: z.string(),
  arguments: z.record(z.string(), z.unknown()).optional(),
})
export type NextStep = z.infer<typeof NextStep>

/** The body of every failure. One error may carry further fields beside these. */
export const ErrorBody = z.looseObject({
  message: z.string().describe('What went wrong, for people'),
  code: z.string().describe('A stable word for programs'),
  fix: z.string().describe('What to do, in one sentence'),
  next_steps: z.array(NextStep),
  request_id: z.string(),
  retry_after: z.number().int().optional().describe('Seconds to wait before the call is repeated'),
  details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
})
export type ErrorBody = z.infer<typeof ErrorBody>

const MICRO = 1_000_000n
const PLAIN_DECIMAL = /^(\d{1,12})(?:\.(\d{1,6}))?$/

/**
 * Reads a plain decimal of US dollars as micro-dollars.
 * @returns undefined for signs, exponents, more than 6 decimals or 12 whole digits
 */
export function parseUsd(text: string): bigint | undefined {
  const match = PLAIN_DECIMAL.exec(text)
  if (!match) return undefined
  return BigInt(match[1]!) * MICRO + BigInt((match[2] ?? '').padEnd(6, '0'))
}

/** Writes micro-dollars as a decimal string with 2 to 6 decimals: `12500000n` is `"12.50"`. */
export function formatUsd(amount: bigint): string {
  const sign = amount < 0n ? '-' : ''
  const size = amount < 0n ? -amount : amount
  const decimals = (size % MICRO)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/, '')
  return `${sign}${size / MICRO}.${decimals}`
}

/** Money that leaves the service: a decimal string on the wire, `bigint` micro-dollars inside. */
export const Usd = z.codec(z.string().regex(/^-?\d+\.\d{2,6}$/), z.bigint(), {
  decode: (text) => (text.startsWith('-') ? -parseUsd(text.slice(1))! : parseUsd(text)!),
  encode: formatUsd,
})

/** Money that a caller sends: a JSON number or a plain decimal string of US dollars, at most 6 decimals. */
export const UsdInput = z.codec(z.union([z.number(), z.string().max(20)]), z.bigint(), {
  decode: (value, context) => {
    const amount = parseUsd(String(value))
    if (amount !== undefined) return amount
    context.issues.push({
      code: 'custom',
      input: value,
      message: 'Expected US dollars as a plain decimal with at most 6 decimals, such as 12.50',
    })
    return z.NEVER
  },
  encode: formatUsd,
})

/** RFC 3339 in UTC on the wire, `Date` inside. */
export const Timestamp = z.codec(z.string(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
})

/** Seconds that a read may wait for what it was asked to wait for; nothing answers later than 50 s. */
export const WaitSeconds = z.coerce.number().int().min(0).max(50)

/** A flag that may come from a query string. */
export const Flag = z.union([z.boolean(), z.stringbool()])

/** Text a person writes: no control characters, trimmed. */
export const PlainText = (maximum: number) =>
  z
    .string()
    .trim()
    .max(maximum)
    .regex(/^[^\u0000-\u001f\u007f]*$/, 'Control characters are not allowed')

/** Paging of a list: `limit` 1 to 100, and the opaque `cursor` of the page before. */
export const paging = {
  limit: z.coerce.number().int().min(1).max(100).default(50),
  cursor: z.string().max(200).optional(),
}
