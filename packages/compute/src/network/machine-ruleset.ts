import {
  type FirewallPolicy,
  type FirewallRule,
  isIpv6Network,
  type PortSpan,
  parsePorts,
} from '../ports/network-policy.ts'
import type { OwnAddresses } from '../ports/vps-driver.ts'
import { GATEWAY, GATEWAY6, GUEST_ADDRESS, RESOLVER, TAP, UPLINK } from './addresses.ts'
import { ALLOWED_SETS, DENIED_SETS, nameTable } from './name-rules.ts'
import { GLOBAL_UNICAST, specialNetworks4, specialNetworks6 } from './special-networks.ts'

/** The targets that an operator forbids every machine, and where names are resolved. */
export interface EgressPolicy {
  /** Networks that no machine reaches. Of IPv6 none reaches anything but global unicast anyway. */
  blockedNetworks: string[]
  /** TCP ports that no machine reaches anywhere. */
  blockedPorts: number[]
  /** IPv4 addresses of DNS servers; the first one is used. Reached also in a blocked network, on port 53 only. */
  resolvers: string[]
  /** Megabits per second for each machine, in each direction. */
  bandwidthMbit: number
}

/** Every network that is no part of the internet, which hold the metadata addresses of clouds, and the ports of mail. */
export const defaultEgress: EgressPolicy = {
  blockedNetworks: [...specialNetworks4, ...specialNetworks6],
  blockedPorts: [25, 465, 587],
  resolvers: [],
  bandwidthMbit: 200,
}

export interface MachineRules {
  macAddress: string
  /** The host's end of the link. */
  hostEnd: string
  addresses?: OwnAddresses
  firewall: FirewallPolicy
  egress: EgressPolicy
  /**
   * The group that the machine's own resolver runs as, by which alone names are resolved: it says what they lead to.
   * Without: they are resolved by the operator's.
   */
  resolverGroup?: number
}

const NEIGHBOURS = 'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert }'

/** In each namespace. */
export const MACHINE_TABLE = 'coinrack'

/** The ports of DNS, also over TLS and QUIC. */
const NAME_PORTS = [53, 853]

const set = (members: (string | number)[]) => `{ ${members.join(', ')} }`

/**
 * The rules of a machine's own namespace, as a script for `nft -f` that replaces the previous ones in one step. Packets
 * of the guest are checked in this order: its own addresses (others are dropped before any other rule), established
 * connections, what the operator forbids, what its owner forbids.
 */
export function machineRuleset(rules: MachineRules): string {
  const { macAddress, hostEnd, addresses, firewall, egress, resolverGroup } = rules
  const hasNames = resolverGroup !== undefined
  const { blockedNetworks, blockedPorts, resolvers } = egress
  const resolver = hasNames ? undefined : resolvers[0]
  const ipv6 = addresses?.ipv6
  const blocked = (isWanted: (network: string) => boolean) => blockedNetworks.filter(isWanted)
  const blocked4 = blocked((network) => !isIpv6Network(network))
  const blocked6 = blocked(isIpv6Network)
  const refuse = 'reject with icmpx admin-prohibited'
  const lines = (...text: (string | false | undefined)[]) => text.filter(Boolean).map((line) => `    ${line}`)
  return [
    `table netdev ${MACHINE_TABLE}`,
    `delete table netdev ${MACHINE_TABLE}`,
    `table netdev ${MACHINE_TABLE} {`,
    '  chain sent {',
    ...lines(
      `type filter hook ingress device "${TAP}" priority -500; policy drop;`,
      `ether saddr != ${macAddress} counter drop`,
      `ether type arp arp saddr ether ${macAddress} arp saddr ip ${set(['0.0.0.0', GUEST_ADDRESS])} accept`,
      `ether type ip ip saddr ${GUEST_ADDRESS} accept`,
      ipv6 && `ether type ip6 ip6 saddr ${ipv6} accept`,
      ipv6 && `ether type ip6 ip6 saddr { ::, fe80::/10 } ${NEIGHBOURS} accept`,
      'counter drop',
    ),
    '  }',
    '}',
    ...emptyTable(hasNames),
    `table inet ${MACHINE_TABLE} {`,
    '  chain prerouting {',
    ...lines(
      'type nat hook prerouting priority -100; policy accept;',
      `iifname "${UPLINK}" dnat ip to ${GUEST_ADDRESS}`,
      resolver &&
        `iifname "${TAP}" ip daddr ${RESOLVER} meta l4proto { tcp, udp } th dport 53 dnat ip to ${resolver}`,
    ),
    '  }',
    '  chain postrouting {',
    ...lines(
      'type nat hook postrouting priority 100; policy accept;',
      // Names are asked for as the host asks: what resolves them need not know the way to an address of the machine.
      addresses?.ipv4 &&
        resolver &&
        `oifname "${UPLINK}" ip daddr ${resolver} meta l4proto { tcp, udp } th dport 53 masquerade`,
      `oifname "${UPLINK}" ip saddr ${GUEST_ADDRESS} ${addresses?.ipv4 ? `snat ip to ${addresses.ipv4}` : 'masquerade'}`,
    ),
    '  }',
    '  chain input {',
    ...lines(
      'type filter hook input priority 0; policy drop;',
      `iifname "${TAP}" ip daddr ${GATEWAY} icmp type echo-request accept`,
      ipv6 && `iifname "${TAP}" ip6 daddr ${GATEWAY6} icmpv6 type echo-request accept`,
      ipv6 && `${NEIGHBOURS} accept`,
      hasNames && `iifname "${TAP}" ip daddr ${RESOLVER} meta l4proto { tcp, udp } th dport 53 accept`,
      // Answers to the questions of the namespace's own resolver.
      `iifname "${UPLINK}" ct state established accept`,
    ),
    '  }',
    // QEMU runs here: a guest that has taken it over reaches by sockets of its own even less than it may as a guest.
    '  chain output {',
    ...lines(
      'type filter hook output priority 0; policy drop;',
      `oifname "${TAP}" accept`,
      hasNames &&
        resolvers.length > 0 &&
        `meta skgid ${resolverGroup} ip daddr ${set(resolvers)} meta l4proto { tcp, udp } th dport 53 accept`,
      ipv6 && `${NEIGHBOURS} accept`,
      // The kernel's own words about what it forwards: no process can send them.
      'meta l4proto { icmp, ipv6-icmp } ct state related accept',
    ),
    '  }',
    '  chain forward {',
    ...lines(
      'type filter hook forward priority 0; policy drop;',
      // Before established connections, so that an open connection to another resolver is cut.
      hasNames && `iifname "${TAP}" meta l4proto { tcp, udp } th dport ${set(NAME_PORTS)} ${refuse}`,
      'ct state established,related accept',
      'ct state invalid drop',
      `iifname "${UPLINK}" oifname "${TAP}" goto arriving`,
      `iifname "${TAP}" oifname "${UPLINK}" goto leaving`,
    ),
    '  }',
    '  chain arriving {',
    ...lines(
      // The service's own look at SSH, from an address that no other host has.
      `ip saddr ${hostEnd} tcp dport 22 accept`,
      ...firewallRules(firewall, 'in', 'drop'),
    ),
    '  }',
    '  chain leaving {',
    ...lines(
      resolver && `ip daddr ${resolver} meta l4proto { tcp, udp } th dport 53 goto owner_leaving`,
      blocked4.length > 0 && `ip daddr ${set(blocked4)} ${refuse}`,
      ipv6 && `ip6 daddr != ${GLOBAL_UNICAST} ${refuse}`,
      ipv6 && blocked6.length > 0 && `ip6 daddr ${set(blocked6)} ${refuse}`,
      blockedPorts.length > 0 && `tcp dport ${set(blockedPorts)} ${refuse}`,
      'goto owner_leaving',
    ),
    '  }',
    '  chain owner_leaving {',
    ...lines(...ownerLeaving(firewall, refuse, hasNames)),
    '  }',
    '}',
    '',
  ].join('\n')
}

/** The addresses that the machine's resolver put into the sets stay; everything else is as if it had never been there. */
function emptyTable(hasNames = false): string[] {
  const table = `table inet ${MACHINE_TABLE}`
  return hasNames ? [nameTable(MACHINE_TABLE), `flush ${table}`] : [table, `delete ${table}`]
}

/** Targets allowed by name come first, and those denied by name when no other rule allows them. */
function ownerLeaving(firewall: FirewallPolicy, refuse: string, hasNames = false): string[] {
  const rules = firewallRules(firewall, 'out', refuse)
  if (!hasNames) return rules
  const allowed = [`ip daddr @${ALLOWED_SETS.ipv4} accept`, `ip6 daddr @${ALLOWED_SETS.ipv6} accept`]
  const denied = [`ip daddr @${DENIED_SETS.ipv4} ${refuse}`, `ip6 daddr @${DENIED_SETS.ipv6} ${refuse}`]
  return [...allowed, ...rules.slice(0, -1), ...denied, rules.at(-1)!]
}

/** One line for each rule of the direction, then its default. */
function firewallRules(
  firewall: FirewallPolicy,
  direction: FirewallRule['direction'],
  refuse: string,
): string[] {
  const verdict = (action: FirewallRule['action']) => (action === 'allow' ? 'accept' : refuse)
  const side = direction === 'in' ? 'saddr' : 'daddr'
  const rules = firewall.rules
    .filter((rule) => rule.direction === direction)
    .map(({ action, protocol, ports, cidr }) =>
      [
        cidr && (isIpv6Network(cidr) ? `ip6 ${side} ${cidr}` : `ip ${side} ${cidr}`),
        protocol === 'icmp' && 'meta l4proto { icmp, ipv6-icmp }',
        (protocol === 'tcp' || protocol === 'udp') &&
          (ports?.length ? `${protocol} dport ${portSet(ports)}` : `meta l4proto ${protocol}`),
        verdict(action),
      ]
        .filter(Boolean)
        .join(' '),
    )
  return [...rules, verdict(direction === 'in' ? firewall.defaultIn : firewall.defaultOut)]
}

/** nft refuses a set whose members overlap, so they are joined. */
function portSet(ports: string[]): string {
  const spans = ports.map((text) => parsePorts(text)!).sort((a, b) => a.from - b.from)
  const joined: PortSpan[] = []
  for (const span of spans) {
    const last = joined.at(-1)
    if (last && span.from <= last.to + 1) last.to = Math.max(last.to, span.to)
    else joined.push({ ...span })
  }
  return set(joined.map(({ from, to }) => (from === to ? from : `${from}-${to}`)))
}
