import { domainToASCII } from 'node:url'
import { copiedExample, isExampleHost } from '../platform/documentation-examples.ts'

export type EmailVerdict = { email: string } | { refused: 'invalid_email' | 'reserved_email'; why: string }

/** RFC 5321 §4.5.3.1: 64 for the local part, 254 for the whole address. */
const LONGEST_LOCAL = 64
const LONGEST = 254
/** The local part of a valid address in the WHATWG HTML standard, without what RFC 5321 would need quotes for. */
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** RFC 2606, RFC 6761, RFC 6762, RFC 7686, RFC 9476. */
const RESERVED_ENDINGS = ['test', 'invalid', 'localhost', 'local', 'onion', 'alt', 'arpa', 'internal']
/** RFC 2142, and what would let a customer speak for an operator. */
const ROLES = ['abuse', 'hostmaster', 'noc', 'postmaster', 'root', 'security', 'webmaster']

/**
 * Judges an address by its form and the reserved names; there is no look-up of the domain.
 * @param ownDomains domains of the operator, in ASCII and lower case
 * @returns the address as it is compared: lower case, the domain in ASCII (IDNA); plus-tags stay distinct
 */
export function judgeEmail(text: string, ownDomains: readonly string[]): EmailVerdict {
  const invalid = (why: string): EmailVerdict => ({ refused: 'invalid_email', why })
  const reserved = (why: string): EmailVerdict => ({ refused: 'reserved_email', why })
  // Anything longer is not looked at: a million characters cost nothing.
  if (text.length > LONGEST) return invalid(`An e-mail address has at most ${LONGEST} characters`)
  const at = text.lastIndexOf('@')
  if (at < 1) return invalid('An e-mail address has the form name@domain.tld')
  const local = text.slice(0, at).toLowerCase()
  if (local.length > LONGEST_LOCAL || !LOCAL.test(local)) {
    return invalid('The part before the @ is not valid')
  }
  const written = text.slice(at + 1)
  // It also writes numbers in any base as the IPv4 address that they are.
  const domain = domainToASCII(written.toLowerCase())
  if (/^\[.*\]$/.test(written) || /^[\d.]+$/.test(domain || written))
    return reserved('An IP address is no mail domain here')
  if (domain !== '' && !domain.includes('.')) return reserved('The domain needs a dot')
  if (!DOMAIN.test(domain) || /[\s%/?#:\\]/.test(written))
    return invalid('The part after the @ is not a domain')
  const email = `${local}@${domain}`
  if (email.length > LONGEST) return invalid(`An e-mail address has at most ${LONGEST} characters`)

  const within = (name: string) => domain === name || domain.endsWith(`.${name}`)
  if (isExampleHost(domain)) {
    return reserved(copiedExample('an address', 'a mailbox of your own; example domains are reserved'))
  }
  if (RESERVED_ENDINGS.some(within)) {
    return reserved(`${domain} is reserved for documentation and tests`)
  }
  if (ownDomains.some(within)) return reserved(`${domain} belongs to the operator of this service`)
  if (ROLES.includes(local)) return reserved(`${local}@ is a role address, not a person or an agent`)
  return { email }
}
