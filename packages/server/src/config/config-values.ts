import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { isServiceAddress } from '@coinrack/host/join-token.ts'
import { privateKeyToAddress } from 'viem/accounts'
import { z } from 'zod'
import { serversOf } from '../database/several-servers.ts'
import { type AddressRange, ipv4Number, ipv4Text, rangeSize } from '../platform/ipv4.ts'
import { isFirstOf } from '../platform/ipv6.ts'

/*
 * The kinds of value that a setting can have. Each reads text and says in its message what it expected.
 */

/** At most `limit` requests in `windowSeconds`. */
export interface Rate {
  limit: number
  windowSeconds: number
}

export interface PortRange {
  from: number
  /** Inclusive. */
  to: number
}

const UNIT_SECONDS = { s: 1, min: 60, h: 3_600, d: 86_400 }
export const HIGHEST_PORT = 65_535
const MICRO_USD = 1_000_000n

/** Text that `read` understands; where it returns undefined, the value is wrong and `expected` says why. */
const value = <T>(expected: string, read: (text: string) => T | undefined) =>
  z.string().transform((text, context): T => {
    const result = read(text)
    if (result !== undefined) return result
    context.addIssue({ code: 'custom', message: `expected ${expected}` })
    return z.NEVER
  })

const wholeNumber = (text: string, lowest: number, highest: number) => {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  return number >= lowest && number <= highest ? number : undefined
}

const list = (text: string) => text.split(/[\s,]+/).filter((item) => item !== '')

/** `20/h`, `10/min`, `5/10min`. */
export const rate = value(
  'a rate such as 20/h, 10/min or 5/10min (units: s, min, h, d)',
  (text): Rate | undefined => {
    const match = /^(\d{1,9})\/(\d{1,6})?(s|min|h|d)$/.exec(text)
    if (!match) return undefined
    const limit = Number(match[1])
    const windowSeconds = Number(match[2] ?? 1) * UNIT_SECONDS[match[3] as keyof typeof UNIT_SECONDS]
    return limit > 0 && windowSeconds > 0 ? { limit, windowSeconds } : undefined
  },
)

/** The bytes of a public key for each algorithm of the MCP registry; a P-384 key is a compressed point. */
const REGISTRY_KEYS: Record<string, number> = { ed25519: 32, ecdsap384: 49 }

/** `v=MCPv1; k=ed25519; p=<base64>`. */
export const registryAuth = value(
  'the proof of a public key for the MCP registry: "v=MCPv1; k=ed25519; p=<base64>" (or k=ecdsap384)',
  (text) => {
    const [, kind, key] = /^v=MCPv1; k=(\w+); p=([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
    return key !== undefined && Buffer.from(key, 'base64').length === REGISTRY_KEYS[kind!] ? text : undefined
  },
)

export const port = value(`a port from 1 to ${HIGHEST_PORT}`, (text) => wholeNumber(text, 1, HIGHEST_PORT))

export const portOrOff = value(`a port from 1 to ${HIGHEST_PORT}, or 0 for none`, (text) =>
  wholeNumber(text, 0, HIGHEST_PORT),
)

/** `22000-25999`. */
export const portRange = value(
  'two ports from 1024 up, such as 22000-25999',
  (text): PortRange | undefined => {
    const [from, to, ...rest] = text.split('-').map((part) => wholeNumber(part, 1024, HIGHEST_PORT))
    return from !== undefined && to !== undefined && from <= to && rest.length === 0
      ? { from, to }
      : undefined
  },
)

/** `2000000000-2000065535`: users without a name, which no other program has. */
export const userIds = value(
  'two numbers of users from 1000 up, such as 2000000000-2000065535',
  (text): { from: number; to: number } | undefined => {
    const [from, to, ...rest] = text.split('-').map((part) => wholeNumber(part, 1000, 4_294_967_293))
    return from !== undefined && to !== undefined && from <= to && rest.length === 0
      ? { from, to }
      : undefined
  },
)

export const flag = value('true or false', (text) =>
  text === 'true' ? true : text === 'false' ? false : undefined,
)

export const oneOf = <const T extends string>(...words: T[]) =>
  value(`one of ${words.join(', ')}`, (text) => words.find((word) => word === text))

export const ipAddress = value('an IP address', (text) => (isIP(text) ? text : undefined))

/** A name or an address to listen on. */
export const hostName = value('an IP address or a host name', (text) =>
  isIP(text) || /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(text) ? text : undefined,
)

export const absolutePath = value('an absolute path', (text) => (text.startsWith('/') ? text : undefined))

export const filePath = value('the path of a file', (text) => (text === '' ? undefined : text))

/** Scheme, host and port only; written without a slash at its end. */
export const origin = value('an address such as https://vps.example.net, without a path', (text) => {
  const url = URL.parse(text)
  const plain = url && /^https?:$/.test(url.protocol) && [url.origin, `${url.origin}/`].includes(url.href)
  return plain ? url.origin : undefined
})

export const urlOf = (...protocols: string[]) =>
  value(`an address that begins with ${protocols.map((name) => `${name}://`).join(' or ')}`, (text) =>
    protocols.includes(URL.parse(text)?.protocol.slice(0, -1) ?? '') ? text : undefined,
  )

/** `postgres://user:password@one:5432,other:5432/name`: one server, or several of which one takes writes. */
export const databaseUrl = value(
  'an address that begins with postgres:// or postgresql://, of one server or of several with commas between them',
  (text) => {
    const protocols = serversOf(text).map((server) => URL.parse(server)?.protocol ?? '')
    return protocols.every((protocol) => /^postgres(ql)?:$/.test(protocol)) ? text : undefined
  },
)

/** IP addresses and networks (`10.0.0.0/8`), separated by commas. */
export const networks = value('IP addresses or networks such as 10.0.0.0/8, separated by commas', (text) =>
  list(text).every(isNetwork) ? list(text) : undefined,
)

export const ipv4Addresses = value('IPv4 addresses, separated by commas', (text) =>
  list(text).every((item) => isIP(item) === 4) ? list(text) : undefined,
)

const MOST_ADDRESSES = 65_536
/** Shorter than this, a network's first and last address are machines' like any other. */
const LONGEST_WITH_ENDS = 30

/** IPv4 networks, ranges and addresses, none of them twice. */
export const addressPool = value(
  `IPv4 networks, ranges or addresses such as 198.51.100.0/24, 198.51.100.16-198.51.100.31, separated by commas, at most ${MOST_ADDRESSES} addresses and none twice`,
  (text): AddressRange[] | undefined => {
    const ranges = list(text).map(readRange)
    if (!ranges.every((range) => range !== undefined)) return undefined
    const sorted = ranges.toSorted((a, b) => ipv4Number(a.from) - ipv4Number(b.from))
    const overlaps = sorted.some(
      ({ from }, index) => index > 0 && ipv4Number(from) <= ipv4Number(sorted[index - 1]!.to),
    )
    const size = ranges.reduce((sum, range) => sum + rangeSize(range), 0)
    return overlaps || size > MOST_ADDRESSES ? undefined : ranges
  },
)

function readRange(text: string): AddressRange | undefined {
  const [from = '', to = from, ...rest] = text.split('-')
  if (rest.length > 0) return undefined
  if (isIP(from) === 4 && isIP(to) === 4) return ipv4Number(from) <= ipv4Number(to) ? { from, to } : undefined
  const [network = '', bits = '', ...more] = text.split('/')
  const length = wholeNumber(bits, 8, 32)
  if (isIP(network) !== 4 || length === undefined || more.length > 0) return undefined
  const size = 2 ** (32 - length)
  const first = ipv4Number(network)
  if (first % size !== 0) return undefined
  const ends = length <= LONGEST_WITH_ENDS ? 1 : 0
  return { from: ipv4Text(first + ends), to: ipv4Text(first + size - 1 - ends) }
}

export const ipv4Address = value('an IPv4 address', (text) => (isIP(text) === 4 ? text : undefined))

/** The first address of an IPv6 network that has at least 2^64. */
export const ipv6Prefix = value(
  'an IPv6 network of 32 to 64 bits, such as 2001:db8:1:2::/64, and nothing after these bits',
  (text) => {
    const [network = '', bits = '', ...rest] = text.split('/')
    const length = wholeNumber(bits, 32, 64)
    if (isIP(network) !== 6 || length === undefined || rest.length > 0 || !isFirstOf(network, length))
      return undefined
    return network.toLowerCase()
  },
)

/** As the kernel names one. */
export const interfaceName = value('the name of a network interface', (text) =>
  /^[A-Za-z0-9][\w.@-]{0,14}$/.test(text) ? text : undefined,
)

export const ports = value(`ports from 1 to ${HIGHEST_PORT}, separated by commas`, (text) => {
  const numbers = list(text).map((item) => wholeNumber(item, 1, HIGHEST_PORT))
  return numbers.every((number) => number !== undefined) ? numbers : undefined
})

export const megabits = value('megabits per second, from 1 to 100000', (text) =>
  wholeNumber(text, 1, 100_000),
)

export const perSecond = value('a number per second, from 1 to 10000000', (text) =>
  wholeNumber(text, 1, 10_000_000),
)

export const upTo100 = value('a whole number from 0 to 100', (text) => wholeNumber(text, 0, 100))

export const times = value('a whole number from 1 to 100', (text) => wholeNumber(text, 1, 100))

export const seconds = value('seconds from 0 to 300', (text) => wholeNumber(text, 0, 300))

/** `/coinrack`, `/machine.slice/coinrack`. */
export const controlGroup = value('a path of a control group, such as /coinrack', (text) =>
  /^(\/[\w][\w.@:-]*)+$/.test(text) ? text : undefined,
)

/** The longest first, each once. */
export const hours = value('hours from 1 to 720, separated by commas', (text) => {
  const numbers = list(text).map((item) => wholeNumber(item, 1, 720))
  return numbers.every((number) => number !== undefined)
    ? [...new Set(numbers)].toSorted((a, b) => b - a)
    : undefined
})

export const minutes = value('minutes from 1 to 1440', (text) => wholeNumber(text, 1, 1_440))

export const days = value('days, from 1 to 3650', (text) => wholeNumber(text, 1, 3_650))

function isNetwork(text: string): boolean {
  const [address = '', length, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return length === undefined || wholeNumber(length, 0, version === 4 ? 32 : 128) !== undefined
}

/** Lower-case ASCII domains. */
export const domains = value('domains separated by commas', (text) => {
  const names = list(text).map((name) => domainToASCII(name.toLowerCase()))
  return names.every((name) => /^([a-z0-9-]{1,63}\.)*[a-z0-9-]{1,63}$/.test(name)) ? names : undefined
})

export const mailAddress = value('an e-mail address, with or without a name before it', (text) =>
  /^([^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(text) ? text : undefined,
)

/** Whole US dollars, as micro-dollars. */
export const wholeDollars = value('whole US dollars, from 3 to 1000000', (text) => {
  const dollars = wholeNumber(text, 3, 1_000_000)
  return dollars === undefined ? undefined : BigInt(dollars) * MICRO_USD
})

/** Whole US dollars, as micro-dollars, or nothing. */
export const wholeDollarsOrNone = value('whole US dollars, from 0 to 1000000', (text) => {
  const dollars = wholeNumber(text, 0, 1_000_000)
  return dollars === undefined ? undefined : BigInt(dollars) * MICRO_USD
})

/** The private key of an account of Ethereum (secp256k1), with or without 0x. */
export const privateKey = value('64 hexadecimal digits, as from: openssl rand -hex 32', (text) => {
  const key = `0x${text.replace(/^0x/, '')}` as const
  try {
    return /^0x[\da-f]{64}$/i.test(key) && privateKeyToAddress(key) ? key : undefined
  } catch {
    return undefined
  }
})

/** At least 32 bytes that were plainly not typed in a hurry. */
export const secret = value('at least 32 random bytes, as from: openssl rand -hex 32', (text) =>
  Buffer.byteLength(text) >= 32 && new Set(text).size >= 10 ? text : undefined,
)

/** `192.0.2.53`, `192.0.2.53:5353` or `[2001:db8::53]:53`. */
export const nameServer = value('the address of a name server, with or without a port', (text) => {
  const match = /^(?:\[([\da-fA-F:]+)\]|([\d.]+)|([\da-fA-F:]+))(?::(\d{1,5}))?$/.exec(text)
  const host = match?.[1] ?? match?.[2] ?? match?.[3] ?? ''
  const at = wholeNumber(match?.[4] ?? '53', 1, HIGHEST_PORT)
  return isIP(host) && at !== undefined ? { host, port: at } : undefined
})

/** `hmac-sha256:name:secret`, as nsupdate takes it with `-y`. */
export const updateKey = value('a key such as hmac-sha256:name:secret, the secret in base64', (text) => {
  const match = /^(hmac-sha(?:224|256|384|512)):([\w.-]{1,200}):([A-Za-z0-9+/]{16,}={0,2})$/.exec(text)
  return match ? { algorithm: match[1]!, name: match[2]!, secret: match[3]! } : undefined
})

/** `sandboxes.example.net:7444`, `10.0.0.5:7444` or `[fd00::5]:7444`. */
export const serviceAddresses = value('names or addresses with a port, separated by commas', (text) => {
  const addresses = list(text)
  return addresses.length > 0 && addresses.every(isServiceAddress) ? addresses : undefined
})

/** `10.0.0.5:7443` or `[fd00::5]:7443`. */
export const socketAddress = value('an IP address with a port, such as 10.0.0.5:7443', (text) => {
  const match = /^(?:\[([\da-fA-F:]+)\]|([\d.]+)):(\d{1,5})$/.exec(text)
  const host = match?.[1] ?? match?.[2] ?? ''
  const at = wholeNumber(match?.[3] ?? '', 0, HIGHEST_PORT)
  return isIP(host) && at !== undefined ? { host, port: at } : undefined
})
