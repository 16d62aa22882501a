import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** The IPv4 that is no public host: IANA's special-purpose registry, multicast, and what is reserved. */
const NOT_PUBLIC = blockList([
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
  '224.0.0.0/4',
  '240.0.0.0/4',
])
/** Of IPv6 only what is given to hosts of the internet at all; not what holds an IPv4 inside. */
const GIVEN_OUT = blockList(['2000::/3'])
const NOT_GIVEN_OUT = blockList(['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'])

/** Says of addresses whether a customer's URL may lead there: to public hosts, and to what the operator allows. */
export function addressJudge(allowedNetworks: string[]): (address: string) => boolean {
  const allowed = blockList(allowedNetworks)
  return (address) => {
    if (isIPv4(address)) return allowed.check(address, 'ipv4') || !NOT_PUBLIC.check(address, 'ipv4')
    if (!isIPv6(address)) return false
    if (allowed.check(address, 'ipv6')) return true
    return GIVEN_OUT.check(address, 'ipv6') && !NOT_GIVEN_OUT.check(address, 'ipv6')
  }
}

/** @param networks `10.0.0.0/8`, or single addresses */
function blockList(networks: string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', length] = network.split('/')
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    list.addSubnet(address, length === undefined ? (family === 'ipv4' ? 32 : 128) : Number(length), family)
  }
  return list
}
