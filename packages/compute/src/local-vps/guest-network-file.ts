import { GATEWAY, GATEWAY6, GUEST_ADDRESS, GUEST_PREFIX_LENGTH } from '../network/addresses.ts'
import type { OwnAddresses } from '../ports/vps-driver.ts'

export const GUEST_NETWORK_FILE = 'etc/systemd/network/10-uplink.network'

/** How a guest sets up its network card, for systemd-networkd: the same for every machine, but for an IPv6 address. */
export function guestNetworkFile({ ipv6 }: OwnAddresses = {}): string {
  return [
    ...['[Match]', 'Name=en* eth*', ''],
    '[Network]',
    `Address=${GUEST_ADDRESS}/${GUEST_PREFIX_LENGTH}`,
    `Gateway=${GATEWAY}`,
    ...(ipv6
      ? [`Address=${ipv6}/128`, `Gateway=${GATEWAY6}`, 'LinkLocalAddressing=ipv6']
      : ['LinkLocalAddressing=no']),
    'IPv6AcceptRA=no',
    '',
  ].join('\n')
}
