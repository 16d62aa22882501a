import { expect, test } from 'vitest'
import { defaultEgress, machineRuleset } from './machine-ruleset.ts'
import type { FirewallPolicy } from './network-policy.ts'

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

test('behavior: nothing blocked and no resolver', () => {
  const egress = { ...defaultEgress, blockedNetworks: [], blockedPorts: [], resolvers: [] }
  const text = machineRuleset({ ...base, egress })
  expect(chain('leaving', text)).toEqual(['goto owner_leaving'])
  expect(chain('prerouting', text)).toEqual(['iifname "uplink" dnat ip to 10.0.2.15'])
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
    'ip protocol icmp accept',
    'drop',
  ])
  expect(chain('owner_leaving', text)).toEqual([
    'ip daddr 198.51.100.1 meta l4proto udp reject with icmpx admin-prohibited',
    'accept',
  ])
})
