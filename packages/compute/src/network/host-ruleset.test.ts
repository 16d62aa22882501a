import { describe, expect, test } from 'vitest'
import {
  changeElements,
  elementsIn,
  hostRuleset,
  leadsTo,
  portElements,
  publicPortOf,
  takenElement,
} from './host-ruleset.ts'

test('default: what is loaded touches no table but its own, and keeps its maps', () => {
  const text = hostRuleset({ ipv4: false, ipv6: false })
  expect(new Set([...text.matchAll(/\b(?:table|chain|rule) inet (\w+)/g)].map(([, name]) => name))).toEqual(
    new Set(['coinrack_host']),
  )
  expect(text).not.toMatch(/flush (table|map|ruleset)|delete/)
})

test('default: machines reach neither the host nor each other', () => {
  const text = hostRuleset({ ipv4: false, ipv6: false })
  expect(text).toMatch(/add rule .* input iifname "cr-\*" drop/)
  expect(text).toMatch(/add rule .* forward iifname "cr-\*" oifname "cr-\*" drop/)
})

test('behavior: a host that was no router does not become one for others', () => {
  const last = (text: string) => text.trim().split('\n').at(-1)
  expect(last(hostRuleset({ ipv4: true, ipv6: false }))).toBe(
    'add rule inet coinrack_host forward meta nfproto ipv4 drop',
  )
  expect(last(hostRuleset({ ipv4: false, ipv6: true }))).toBe(
    'add rule inet coinrack_host forward meta nfproto ipv6 drop',
  )
  expect(last(hostRuleset({ ipv4: false, ipv6: false }))).toContain('oifname "cr-*" drop')
})

describe('ports', () => {
  const listen = { host: '192.0.2.7', port: 22_001 }
  const web = { protocol: 'tcp', port: 80, publicPort: 22_002 } as const
  const wanted = portElements(listen, [web], '100.96.0.6')

  test('default: SSH, and what was opened', () => {
    expect(wanted).toEqual([
      { map: 'ports', key: '192.0.2.7 . tcp . 22001', value: '100.96.0.6 . 22' },
      { map: 'ports', key: '192.0.2.7 . tcp . 22002', value: '100.96.0.6 . 80' },
    ])
  })

  test('behavior: every address of the host', () => {
    expect(portElements({ host: '0.0.0.0', port: 22_001 }, [], '100.96.0.6')).toEqual([
      { map: 'ports_everywhere', key: 'tcp . 22001', value: '100.96.0.6 . 22' },
    ])
  })

  test('behavior: only what differs is changed', () => {
    expect(changeElements(wanted, wanted)).toBe('')
    expect(changeElements(wanted, portElements(listen, [{ ...web, publicPort: 22_003 }], '100.96.0.6'))).toBe(
      'delete element inet coinrack_host ports { 192.0.2.7 . tcp . 22002 : 100.96.0.6 . 80 }\n' +
        'add element inet coinrack_host ports { 192.0.2.7 . tcp . 22003 : 100.96.0.6 . 80 }\n',
    )
  })

  test('behavior: of what nft lists, only that of the machine', () => {
    const element = (port: number, machine: string) => [
      { concat: ['192.0.2.7', 'tcp', port] },
      { concat: [machine, 22] },
    ]
    const elem = [element(22_001, '100.96.0.6'), element(22_009, '100.96.0.60')]
    const listing = {
      nftables: [{ metainfo: {} }, { map: { name: 'ports', elem } }, { map: { name: 'other' } }],
    }
    const all = elementsIn(JSON.stringify(listing))
    expect(all.filter(leadsTo('100.96.0.6'))).toEqual([wanted[0]])
    expect(all.map(publicPortOf)).toEqual([22_001, 22_009])
  })

  test('behavior: what leads to another machine is taken, at the same address or at all', () => {
    const own = '100.96.0.6'
    const at = (host: string, port = 22_001) => portElements({ host, port }, [], '100.96.0.60')
    const taken = (others: ReturnType<typeof at>, mine = wanted) => takenElement(others, mine)?.key
    expect(taken(at('192.0.2.7'))).toBe('192.0.2.7 . tcp . 22001')
    expect(taken(at('0.0.0.0', 22_002))).toBe('192.0.2.7 . tcp . 22002')
    expect(taken(at('192.0.2.7'), portElements({ host: '0.0.0.0', port: 22_001 }, [], own))).toBe(
      'tcp . 22001',
    )
    expect(taken(at('192.0.2.8'))).toBeUndefined()
    expect(taken(at('192.0.2.7', 22_003))).toBeUndefined()
    const udp = portElements(
      { host: '192.0.2.7', port: 22_009 },
      [{ ...web, protocol: 'udp', publicPort: 22_001 }],
      own,
    )
    expect(taken(udp)).toBeUndefined()
  })
})
