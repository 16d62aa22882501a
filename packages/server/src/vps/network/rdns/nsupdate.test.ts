import { Resolver } from 'node:dns/promises'
import { expect, test } from 'vitest'
import { nsupdateReverseDns, type UpdateKey } from './nsupdate.ts'
import { reverseDnsSuite } from './reverse-dns.suite.ts'
import { reverseName } from './reverse-name.ts'
import { startNameServer } from './testing-name-server.ts'

/** Against a real name server on loopback. */

const key: UpdateKey = {
  algorithm: 'hmac-sha256',
  name: 'coinrack',
  secret: Buffer.from('a key of thirty-two bytes for us').toString('base64'),
}
const leads = { hostname: 'web.example.net', address: '198.18.0.9', address6: '2001:db8:1:2::109' }
const zones = {
  '0.18.198.in-addr.arpa.': [],
  '2.0.0.0.1.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.': [],
  'example.net.': [`real A ${leads.address}`, `real AAAA ${leads.address6}`, 'web CNAME real'],
}

async function open(change: Partial<UpdateKey> = {}) {
  const server = await startNameServer(key, zones)
  const at = `127.0.0.1:${server.port}`
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  resolver.setServers([at])
  const rdns = nsupdateReverseDns({
    server: { host: '127.0.0.1', port: server.port },
    key: { ...key, ...change },
    resolver: { host: '127.0.0.1', port: server.port },
  })
  const namesOf = (address: string) => resolver.resolvePtr(reverseName(address).slice(0, -1)).catch(() => [])
  return { rdns, namesOf, leads, close: server.close }
}

reverseDnsSuite('dynamic update', open)

test('error: a key that the server does not take changes nothing', async () => {
  const { rdns, namesOf, close } = await open({ secret: Buffer.from('another').toString('base64') })
  try {
    await expect(rdns.publish('198.18.0.7', 'one.example.net')).rejects.toThrow(/nsupdate/)
    expect(await namesOf('198.18.0.7')).toEqual([])
  } finally {
    await close()
  }
})

test('error: an address of a zone that the server does not have', async () => {
  const { rdns, close } = await open()
  try {
    await expect(rdns.publish('198.51.100.7', 'one.example.net')).rejects.toThrow(/nsupdate/)
  } finally {
    await close()
  }
})

test('error: a server that is not there', async () => {
  const rdns = nsupdateReverseDns({ server: { host: '127.0.0.1', port: 1 }, key })
  await expect(rdns.publish('198.18.0.7', 'one.example.net')).rejects.toThrow(/nsupdate/)
})
