import type { OpenPort } from '../ports/network-policy.ts'
import type { SshAddress } from '../ports/vps-driver.ts'
import { LINK_NETWORK, LINK_PATTERN, LOOPBACK_CLIENT } from './addresses.ts'

/** On the host, for all machines together: a look-up in a map costs the same with one machine and with thousands. */
export const HOST_TABLE = 'coinrack_host'

/** For whom the host forwarded nothing before machines came: it goes on to forward nothing else. */
export interface OnlyRouter {
  ipv4: boolean
  ipv6: boolean
}

/**
 * The host's rules without any machine, as a script for `nft -f`. Said again it changes nothing, and it leaves the
 * maps and sets, which hold the machines, as they are.
 */
export function hostRuleset(onlyRouter: OnlyRouter): string {
  const chains: Record<string, string[]> = {
    to_machine: [
      'dnat ip to ip daddr . meta l4proto . th dport map @ports',
      'fib daddr type local dnat ip to meta l4proto . th dport map @ports_everywhere',
    ],
    prerouting: ['type nat hook prerouting priority -100; policy accept;', 'jump to_machine'],
    output: ['type nat hook output priority -100; policy accept;', 'jump to_machine'],
    postrouting: [
      'type nat hook postrouting priority 100; policy accept;',
      `oifname "${LINK_PATTERN}" ip saddr 127.0.0.0/8 snat ip to ${LOOPBACK_CLIENT}`,
      `oifname != "${LINK_PATTERN}" ip saddr ${LINK_NETWORK} masquerade`,
    ],
    input: [
      'type filter hook input priority -10; policy accept;',
      `iifname "${LINK_PATTERN}" ct state established,related accept`,
      `iifname "${LINK_PATTERN}" icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept`,
      `iifname "${LINK_PATTERN}" drop`,
    ],
    forward: [
      'type filter hook forward priority -10; policy accept;',
      `iifname "${LINK_PATTERN}" oifname "${LINK_PATTERN}" drop`,
      `iifname "${LINK_PATTERN}" ip6 saddr . iifname != @addresses6 drop`,
      `iifname "${LINK_PATTERN}" accept`,
      `oifname "${LINK_PATTERN}" ct state established,related accept`,
      // A packet that claims to be of one of our links comes from elsewhere.
      `oifname "${LINK_PATTERN}" ip saddr ${LINK_NETWORK} drop`,
      `oifname "${LINK_PATTERN}" ct status dnat accept`,
      `oifname "${LINK_PATTERN}" ip daddr . oifname @addresses accept`,
      `oifname "${LINK_PATTERN}" ip6 daddr . oifname @addresses6 accept`,
      `oifname "${LINK_PATTERN}" drop`,
      ...(onlyRouter.ipv4 ? ['meta nfproto ipv4 drop'] : []),
      ...(onlyRouter.ipv6 ? ['meta nfproto ipv6 drop'] : []),
    ],
  }
  const names = Object.keys(chains)
  const header = (rules: string[]) => rules.filter((rule) => rule.startsWith('type '))
  return [
    `table inet ${HOST_TABLE} {`,
    '  map ports { type ipv4_addr . inet_proto . inet_service : ipv4_addr . inet_service; }',
    '  set addresses { type ipv4_addr . ifname; }',
    '  set addresses6 { type ipv6_addr . ifname; }',
    '  map ports_everywhere { type inet_proto . inet_service : ipv4_addr . inet_service; }',
    ...names.map((name) => `  chain ${name} { ${header(chains[name]!).join(' ')} }`),
    '}',
    ...names.map((name) => `flush chain inet ${HOST_TABLE} ${name}`),
    ...names.flatMap((name) =>
      chains[name]!.filter((rule) => !rule.startsWith('type ')).map(
        (rule) => `add rule inet ${HOST_TABLE} ${name} ${rule}`,
      ),
    ),
    '',
  ].join('\n')
}

/** A member of one of the two maps, as nft writes it. */
export interface PortElement {
  map: 'ports' | 'ports_everywhere'
  key: string
  value: string
}

/** The elements that lead to a machine: its SSH, and the ports that were opened. `0.0.0.0` is every address of the host. */
export function portElements(listen: SshAddress, ports: OpenPort[], machineEnd: string): PortElement[] {
  const all: OpenPort[] = [{ protocol: 'tcp', port: 22, publicPort: listen.port }, ...ports]
  return all.map(({ protocol, port, publicPort }) => ({
    ...(listen.host === '0.0.0.0'
      ? { map: 'ports_everywhere' as const, key: `${protocol} . ${publicPort}` }
      : { map: 'ports' as const, key: `${listen.host} . ${protocol} . ${publicPort}` }),
    value: `${machineEnd} . ${port}`,
  }))
}

/** A script for `nft -f` that turns what leads to a machine into what should, in one step. Empty: nothing to do. */
export function changeElements(present: PortElement[], wanted: PortElement[]): string {
  const same = (one: PortElement) => (other: PortElement) =>
    one.map === other.map && one.key === other.key && one.value === other.value
  const line = (verb: string, { map, key, value }: PortElement) =>
    `${verb} element inet ${HOST_TABLE} ${map} { ${key} : ${value} }\n`
  return [
    ...present.filter((one) => !wanted.some(same(one))).map((one) => line('delete', one)),
    ...wanted.filter((one) => !present.some(same(one))).map((one) => line('add', one)),
  ].join('')
}

interface NftMap {
  name: string
  elem?: [{ concat: (string | number)[] }, { concat: (string | number)[] }][]
}

/** The elements of all machines of the host, other services' included, from `nft -j list table`. */
export function elementsIn(listing: string): PortElement[] {
  const { nftables } = JSON.parse(listing) as { nftables: { map?: NftMap }[] }
  return nftables.flatMap(({ map }) =>
    (map?.elem ?? []).map(([key, value]) => ({
      map: map!.name as PortElement['map'],
      key: key.concat.join(' . '),
      value: value.concat.join(' . '),
    })),
  )
}

export const leadsTo =
  (machineEnd: string) =>
  ({ value }: PortElement) =>
    value.startsWith(`${machineEnd} . `)

/** The address and port that a client connects to; the address is missing where it is every address of the host. */
function ledFrom({ map, key }: PortElement) {
  const parts = key.split(' . ')
  const [address, protocol, port] = map === 'ports' ? parts : [undefined, ...parts]
  return { address, protocol: protocol!, port: Number(port) }
}

/** The number of the public port. */
export const publicPortOf = (element: PortElement) => ledFrom(element).port

/** The first of the wanted elements that leads to another machine already. */
export function takenElement(others: PortElement[], wanted: PortElement[]): PortElement | undefined {
  return wanted.find((element) => {
    const one = ledFrom(element)
    return others.map(ledFrom).some((other) => {
      const isSameAddress =
        one.address === undefined || other.address === undefined || one.address === other.address
      return isSameAddress && one.port === other.port && one.protocol === other.protocol
    })
  })
}
