/*
 * Every machine has the same address on the inside. Between its namespace and the host runs a link, a /30 of its own
 * out of one network that no one else uses.
 */

export const GUEST_ADDRESS = '10.0.2.15'
export const GATEWAY = '10.0.2.2'
/** Where guests ask for names; it is passed on to the operator's resolver. */
export const RESOLVER = '10.0.2.3'
export const GUEST_PREFIX_LENGTH = 24
/** The IPv6 gateway of every guest that has an IPv6 address. */
export const GATEWAY6 = 'fe80::1'

/** The network of the links: from the range that RFC 6598 sets aside for carriers, which customers' networks do not use. */
export const LINK_NETWORK = '100.96.0.0/16'
/**
 * The address that clients on the host's loopback come from, as the machine sees them: nothing there can be answered
 * directly.
 */
export const LOOPBACK_CLIENT = '100.96.0.1'
/** How many machines a host can link: the first /30 is for `LOOPBACK_CLIENT`. */
export const HIGHEST_SLOT = 2 ** 14 - 1

/** The names within each namespace: always the same, so that command lines of QEMU are, too. */
export const TAP = 'tap0'
export const UPLINK = 'uplink'

export interface LinkAddresses {
  /** The host's end; the service looks at a machine from here. */
  host: string
  /** The end in the machine's namespace. */
  machine: string
}

/** The two addresses of a link, from 1 to `HIGHEST_SLOT`. */
export function linkAddresses(slot: number): LinkAddresses {
  const at = (offset: number) => {
    const number = slot * 4 + offset
    return `100.96.${number >> 8}.${number & 255}`
  }
  return { host: at(1), machine: at(2) }
}

/** The link's name on the host, which holds 15 characters: the random part of the id makes it unique. */
export const linkName = (id: string) => `cr-${id.slice(-12)}`
export const LINK_PATTERN = 'cr-*'

/** The machine's namespace, as `ip netns` shows it. */
export const namespaceName = (id: string) => `coinrack-${id}`
export const namespaceFile = (id: string) => `/run/netns/${namespaceName(id)}`
