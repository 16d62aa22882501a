import { expect, test } from 'vitest'
import type { FirewallPolicy } from '../ports/network-policy.ts'
import { defaultEgress, machineRuleset } from './machine-ruleset.ts'

const base = {
  macAddress: '52:54:00:00:00:01',
  hostEnd: '100.96.0.5',
  firewall: { defaultIn: 'allow', defaultOut: 'allow', rules: [] } as FirewallPolicy,
  egress: { ...defaultEgress, resolvers: ['192.168.1.1'] },
}

/** The rules of one chain, without its head. */
function chain(name: string, text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim())
  const from = lines.indexOf(`chain ${name} {`) + 1
  return lines.slice(from, lines.indexOf('}', from)).filter((line) => !line.startsWith('type '))
}

test('default: only what the guest may call itself gets past its tap', () => {
  const text = machineRuleset(base)
  expect(text).toContain('hook ingress device "tap0" priority -500; policy drop;')
  expect(chain('sent', text)).toEqual([
    'ether saddr != 52:54:00:00:00:01 counter drop',
    'ether type arp arp saddr ether 52:54:00:00:00:01 arp saddr ip { 0.0.0.0, 10.0.2.15 } accept',
    'ether type ip ip saddr 10.0.2.15 accept',
    'counter drop',
  ])
})

test('default: it replaces in one step what was loaded before, and names no table but its own', () => {
  const tables = [...machineRuleset(base).matchAll(/^(delete )?table (\w+ \w+)/gm)].map(([line]) => line)
  expect(tables).toEqual([
    'table netdev coinrack',
    'delete table netdev coinrack',
    'table netdev coinrack',
    'table inet coinrack',
    'delete table inet coinrack',
    'table inet coinrack',
  ])
})

test("default: the operator's filter comes before the owner's, and the resolver before both", () => {
  const leaving = chain('leaving', machineRuleset(base))
  expect(leaving[0]).toBe('ip daddr 192.168.1.1 meta l4proto { tcp, udp } th dport 53 goto owner_leaving')
  expect(leaving[1]).toContain('169.254.0.0/16')
  expect(leaving[2]).toBe('tcp dport { 25, 465, 587 } reject with icmpx admin-prohibited')
  expect(leaving[3]).toBe('goto owner_leaving')
})

test('default: a process of the namespace speaks to its guest alone', () => {
  const text = machineRuleset(base)
  expect(text).toContain('type filter hook output priority 0; policy drop;')
  expect(chain('output', text)).toEqual([
    'oifname "tap0" accept',
    'meta l4proto { icmp, ipv6-icmp } ct state related accept',
  ])
})

test('behavior: nothing blocked and no resolver', () => {
  const egress = { ...defaultEgress, blockedNetworks: [], blockedPorts: [], resolvers: [] }
  const text = machineRuleset({ ...base, egress })
  expect(chain('leaving', text)).toEqual(['goto owner_leaving'])
  expect(chain('prerouting', text)).toEqual(['iifname "uplink" dnat ip to 10.0.2.15'])
})

test('behavior: with an address of its own it is that, but for the resolver, which answers the host', () => {
  const names = 'oifname "uplink" ip daddr 192.168.1.1 meta l4proto { tcp, udp } th dport 53 masquerade'
  const text = machineRuleset({ ...base, addresses: { ipv4: '198.18.0.7' } })
  expect(chain('postrouting', text)).toEqual([
    names,
    'oifname "uplink" ip saddr 10.0.2.15 snat ip to 198.18.0.7',
  ])
  expect(chain('postrouting', machineRuleset(base))).toEqual([
    'oifname "uplink" ip saddr 10.0.2.15 masquerade',
  ])
})

test('behavior: an IPv6 address is its own source, and reaches global unicast alone', () => {
  const firewall: FirewallPolicy = {
    ...base.firewall,
    rules: [{ action: 'deny', direction: 'in', protocol: 'tcp', ports: ['80'], cidr: '2001:db8:1::/48' }],
  }
  const egress = { ...base.egress, blockedNetworks: ['10.0.0.0/8', '2001:db8:bad::/48'] }
  const text = machineRuleset({ ...base, addresses: { ipv6: '2001:db8::7' }, firewall, egress })
  expect(chain('sent', text).slice(3, 5)).toEqual([
    'ether type ip6 ip6 saddr 2001:db8::7 accept',
    'ether type ip6 ip6 saddr { ::, fe80::/10 } icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept',
  ])
  expect(chain('leaving', text).slice(1, 4)).toEqual([
    'ip daddr { 10.0.0.0/8 } reject with icmpx admin-prohibited',
    'ip6 daddr != 2000::/3 reject with icmpx admin-prohibited',
    'ip6 daddr { 2001:db8:bad::/48 } reject with icmpx admin-prohibited',
  ])
  expect(chain('arriving', text)[1]).toBe('ip6 saddr 2001:db8:1::/48 tcp dport { 80 } drop')
  expect(machineRuleset({ ...base, egress })).not.toMatch(/ip6|icmpv6/)
})

test("behavior: the owner's rules in their order, then the default; the service's own look at SSH first", () => {
  const firewall: FirewallPolicy = {
    defaultIn: 'deny',
    defaultOut: 'allow',
    rules: [
      { action: 'deny', direction: 'in', protocol: 'any', cidr: '203.0.113.0/24' },
      {
        action: 'allow',
        direction: 'in',
        protocol: 'tcp',
        ports: ['443', '80', '8000-8010', '8005-8020', '8021'],
      },
      { action: 'deny', direction: 'out', protocol: 'udp', cidr: '198.51.100.1' },
      { action: 'allow', direction: 'in', protocol: 'icmp' },
    ],
  }
  const text = machineRuleset({ ...base, firewall })
  expect(chain('arriving', text)).toEqual([
    'ip saddr 100.96.0.5 tcp dport 22 accept',
    'ip saddr 203.0.113.0/24 drop',
    'tcp dport { 80, 443, 8000-8021 } accept',
    'meta l4proto { icmp, ipv6-icmp } accept',
    'drop',
  ])
  expect(chain('owner_leaving', text)).toEqual([
    'ip daddr 198.51.100.1 meta l4proto udp reject with icmpx admin-prohibited',
    'accept',
  ])
})

test('behavior: by name, addresses that the resolver finds come first, and no other resolver is reached', () => {
  const firewall: FirewallPolicy = {
    defaultIn: 'deny',
    defaultOut: 'deny',
    rules: [
      { action: 'allow', direction: 'out', protocol: 'any', cidr: '203.0.113.0/24' },
      { action: 'deny', direction: 'out', protocol: 'any', cidr: '198.51.100.0/24' },
    ],
  }
  const text = machineRuleset({ ...base, firewall, resolverGroup: 2_100_000_001 })
  expect(chain('owner_leaving', text)).toEqual([
    'ip daddr @allowed_names accept',
    'ip6 daddr @allowed_names6 accept',
    'ip daddr 203.0.113.0/24 accept',
    'ip daddr 198.51.100.0/24 reject with icmpx admin-prohibited',
    'ip daddr @denied_names reject with icmpx admin-prohibited',
    'ip6 daddr @denied_names6 reject with icmpx admin-prohibited',
    'reject with icmpx admin-prohibited',
  ])
  expect(chain('forward', text).slice(0, 2)).toEqual([
    'iifname "tap0" meta l4proto { tcp, udp } th dport { 53, 853 } reject with icmpx admin-prohibited',
    'ct state established,related accept',
  ])
  expect([...chain('prerouting', text), ...chain('leaving', text)].join('\n')).not.toContain('192.168.1.1')
  expect(chain('output', text)[1]).toBe(
    'meta skgid 2100000001 ip daddr { 192.168.1.1 } meta l4proto { tcp, udp } th dport 53 accept',
  )
  expect(chain('leaving', text)[0]).toContain('ip daddr { 0.0.0.0/8')
})

test('behavior: by name, what the resolver found stays while the rules are replaced', () => {
  const text = machineRuleset({ ...base, resolverGroup: 2_100_000_001 })
  expect(text).toContain('set allowed_names { type ipv4_addr; flags timeout;')
  expect(text).toContain('flush table inet coinrack\n')
  expect(text).not.toContain('delete table inet')
})
