import { isIPv4, isIPv6 } from 'node:net'
import type { OwnAddresses } from '../ports/vps-driver.ts'
import { HOST_TABLE } from './host-ruleset.ts'

/** How such addresses come to this host. */
export interface AddressRouting {
  /** The interface on which this host answers for them. Without: they are routed to this host. */
  bridge?: string
  /** The router on the bridge that takes what machines send from IPv4 ones. Without: this host routes it as its own. */
  gateway?: string
}

/** Holds the route to the gateway of `AddressRouting`; the rules that lead to it have the same number. */
export const GATEWAY_TABLE = 9610

/** Whether the text of each address is one. */
export const areAddresses = ({ ipv4, ipv6 }: OwnAddresses) =>
  (ipv4 === undefined || isIPv4(ipv4)) && (ipv6 === undefined || (isIPv6(ipv6) && /^[0-9a-f:]+$/.test(ipv6)))

/** A member of one of the host's sets, which let packets to a machine's own address through to its link. */
interface AddressElement {
  set: 'addresses' | 'addresses6'
  address: string
}

interface NftSet {
  name: AddressElement['set']
  elem?: { concat: [address: string, link: string] }[]
}

/** The elements that lead to a link, from `nft -j list table`. */
export function addressesAt(link: string, listing: string): AddressElement[] {
  const { nftables } = JSON.parse(listing) as { nftables: { set?: NftSet }[] }
  return nftables.flatMap(({ set }) =>
    (set?.elem ?? [])
      .filter(({ concat }) => concat[1] === link)
      .map(({ concat: [address] }) => ({ set: set!.name, address })),
  )
}

/** A script for `nft -f` that lets these addresses through to the link and no other. Empty: nothing to do. */
export function changeAddresses(
  link: string,
  present: AddressElement[],
  { ipv4, ipv6 }: OwnAddresses,
): string {
  const wanted: AddressElement[] = [
    ...(ipv4 ? [{ set: 'addresses' as const, address: ipv4 }] : []),
    ...(ipv6 ? [{ set: 'addresses6' as const, address: ipv6 }] : []),
  ]
  const isIn = (list: AddressElement[]) => (one: AddressElement) =>
    list.some(({ set, address }) => set === one.set && address === one.address)
  const line =
    (verb: string) =>
    ({ set, address }: AddressElement) =>
      `${verb} element inet ${HOST_TABLE} ${set} { ${address} . "${link}" }\n`
  return [
    ...present.filter((one) => !isIn(wanted)(one)).map(line('delete')),
    ...wanted.filter((one) => !isIn(present)(one)).map(line('add')),
  ].join('')
}
