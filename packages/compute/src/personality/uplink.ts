/** How a guest reaches the world through its network card. */
export interface Uplink {
  /** In CIDR notation, such as `198.51.100.7/24`. */
  addresses: string[]
  gateways: string[]
  /** The address of its name server. */
  resolver: string
}

export const UPLINK_FILE = 'etc/systemd/network/10-uplink.network'

/** The network file of systemd-networkd for one card; no address of it comes from the network itself. */
export function uplinkFile({ addresses, gateways }: Uplink): string {
  const hasIpv6 = addresses.some((address) => address.includes(':'))
  return [
    ...['[Match]', 'Name=en* eth*', ''],
    '[Network]',
    ...addresses.map((address) => `Address=${address}`),
    ...gateways.map((gateway) => `Gateway=${gateway}`),
    `LinkLocalAddressing=${hasIpv6 ? 'ipv6' : 'no'}`,
    'IPv6AcceptRA=no',
    '',
  ].join('\n')
}
