/*
 * Addresses that are no host of the internet: IANA's registries of special-purpose addresses, whole, with multicast and
 * what is reserved. Those of a wider entry stand for the narrower ones in it.
 * https://www.iana.org/assignments/iana-ipv4-special-registry
 * https://www.iana.org/assignments/iana-ipv6-special-registry
 */

/** Private networks, the metadata addresses of clouds, documentation, benchmarks, relays of 6to4, multicast. */
export const specialNetworks4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]

/**
 * The addresses that IANA gives to the internet. Outside it are loopback, private, link-local and multicast addresses,
 * segment routing, and the forms that hold an IPv4 address: mapped, compatible, and those of NAT64 (RFC 6052, RFC
 * 8215).
 */
export const GLOBAL_UNICAST = '2000::/3'

/** Special within it: Teredo, ORCHID and others in the first, then documentation, 6to4, AS112, documentation again. */
export const specialNetworks6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']
