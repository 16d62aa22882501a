import { GATEWAY, GATEWAY6, GUEST_ADDRESS, GUEST_PREFIX_LENGTH, RESOLVER } from '../network/addresses.ts'
import type { Uplink } from '../personality/uplink.ts'
import type { OwnAddresses } from '../ports/vps-driver.ts'

/** The uplink of a guest in its own network namespace: the same for every machine, but for an IPv6 address. */
export const guestUplink = ({ ipv6 }: OwnAddresses = {}): Uplink => ({
  addresses: [`${GUEST_ADDRESS}/${GUEST_PREFIX_LENGTH}`, ...(ipv6 ? [`${ipv6}/128`] : [])],
  gateways: [GATEWAY, ...(ipv6 ? [GATEWAY6] : [])],
  resolver: RESOLVER,
})
