import { BlockList, isIPv4, isIPv6 } from 'node:net'
import {
  GLOBAL_UNICAST,
  specialNetworks4,
  specialNetworks6,
} from '@coinrack/compute/network/special-networks.ts'

const NOT_PUBLIC = blockList(specialNetworks4)
/** Only such IPv6 addresses are given to hosts of the internet at all. */
const GIVEN_OUT = blockList([GLOBAL_UNICAST])
const NOT_GIVEN_OUT = blockList(specialNetworks6)

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
