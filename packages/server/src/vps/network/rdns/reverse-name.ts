import { ipv6Digits } from '../../../platform/ipv6.ts'

/** Where the DNS keeps the name of an address, with the dot at its end. */
export const reverseName = (address: string) =>
  address.includes(':')
    ? `${[...ipv6Digits(address)].reverse().join('.')}.ip6.arpa.`
    : `${address.split('.').reverse().join('.')}.in-addr.arpa.`
