/*
 * The token by which a machine joins a service as a host: all that it needs to find the service, to know it again, and to
 * prove that its operator was told to.
 */

export interface JoinToken {
  /** The name that the machine gets as a host. */
  hostId: string
  /** Where the service takes hosts, each `host:port`. */
  addresses: string[]
  /** 32 random bytes, in base64url: only the service that gave it knows its hash. */
  secret: string
  /** The SHA-256 of the certificate (DER) of the authority of the service, in hexadecimal. */
  authority: string
}

const PREFIX = 'crj_'
const HOST_ID = /^[a-z][a-z0-9-]{0,30}$/
const ADDRESS = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9.-]{1,253}):\d{1,5}$/i

/** Whether a host may be called so: the name is part of its certificate. */
export const isHostId = (text: string): boolean => HOST_ID.test(text)

/** Whether it is a name or an address with a port. */
export const isServiceAddress = (text: string): boolean => ADDRESS.test(text)

export const encodeJoinToken = ({ hostId, addresses, secret, authority }: JoinToken): string =>
  PREFIX + Buffer.from(JSON.stringify([hostId, addresses, secret, authority])).toString('base64url')

/** Undefined for a text that is no token. */
export function decodeJoinToken(text: string): JoinToken | undefined {
  if (!text.startsWith(PREFIX) || text.length > 4_000) return undefined
  try {
    const [hostId, addresses, secret, authority] = JSON.parse(
      Buffer.from(text.slice(PREFIX.length), 'base64url').toString(),
    ) as [string, string[], string, string]
    const isToken =
      isHostId(hostId) &&
      addresses.length > 0 &&
      addresses.every(isServiceAddress) &&
      /^[\w-]{43}$/.test(secret) &&
      /^[0-9a-f]{64}$/.test(authority)
    return isToken ? { hostId, addresses, secret, authority } : undefined
  } catch {
    return undefined
  }
}

/** The protocols of a connection of a host, by which both sides name what it is for (ALPN, RFC 7301). */
export const JOIN_PROTOCOL = 'coinrack-join'
export const HOST_PROTOCOL = 'coinrack-host'
/** The name that the certificate of the service has for its hosts. */
export const SERVICE_NAME = 'service.coinrack.internal'
