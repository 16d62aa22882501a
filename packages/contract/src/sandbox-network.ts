import { z } from 'zod'
import { isCidr } from './network.ts'

const MOST_ENTRIES = 100
const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
const NAME = new RegExp(`^(?=.{1,253}$)(${LABEL}\\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)
/** The characters that a web address has beside a name, and those that are read as something else there. */
const NO_NAME = /[\s%/?#:@\\*[\]]/

/**
 * Returns a name as it is compared: in ASCII (IDNA) and lower case, without the dot of the root. Undefined for a text
 * that is no name.
 */
function parseName(text: string): string | undefined {
  const bare = text.replace(/\.$/, '')
  const url = `http://${bare}`
  if (NO_NAME.test(bare) || !URL.canParse(url)) return undefined
  const { hostname } = new URL(url)
  return NAME.test(hostname) ? hostname : undefined
}

/** A network, or a name such as `example.com`, or all names below one, in the one form in which it is kept. */
export function parseEntry(text: string): string | undefined {
  if (isCidr(text)) return text.toLowerCase()
  if (!text.startsWith('*.')) return parseName(text)
  const name = parseName(text.slice(2))
  return name && `*.${name}`
}

const Entry = z.codec(z.string().min(1).max(255), z.string(), {
  decode: (text, context) => {
    const entry = parseEntry(text)
    if (entry !== undefined) return entry
    context.issues.push({
      code: 'custom',
      input: text,
      message:
        'Expected an address or network such as 198.51.100.0/24, a name such as example.com, or *.example.com for all names below it; no URL, port or path',
    })
    return z.NEVER
  },
  encode: (entry) => entry,
})
const Entries = z
  .array(Entry)
  .max(MOST_ENTRIES, `Expected at most ${MOST_ENTRIES} networks and names: *.example.com holds all below it`)
  .prefault([])

export const NetworkInput = z
  .strictObject({
    allow_internet: z.boolean().default(true).describe('Whether what is in no list is reached'),
    allow_out: Entries.describe('Networks, and names: example.com is that one, *.example.com all below it'),
    deny_out: Entries,
  })
  .describe('allow_out wins over deny_out; both may have names')

export const Network = z.object({
  allow_internet: z.boolean(),
  allow_out: z.array(z.string()),
  deny_out: z.array(z.string()),
})
