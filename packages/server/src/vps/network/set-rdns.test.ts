import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'
import { createFakeReverseDns, type FakeReverseDns } from './rdns/fake-reverse-dns.ts'
import { retryAfter } from './rdns/reconcile-rdns.ts'

const env = {
  COINRACK_ADDRESS_POOL: '198.18.0.0/29',
  COINRACK_ADDRESS_IPV6: '2001:db8:1:2::/64',
  COINRACK_RATE_ORDERS: '1000/min',
}

describe('set_rdns', () => {
  let service: TestService
  let rdns: FakeReverseDns
  let token: string
  beforeAll(async () => {
    rdns = createFakeReverseDns()
    service = await startTestService({ features: ['firewall', 'ownAddresses', 'ipv6'], env, rdns })
    ;({ token } = await service.customer(500_000_000n))
  })
  afterAll(() => service.close())

  const order = async (product = 'micro-ip') => {
    const { body } = await service.ask('POST', '/orders', { token, body: { product, os_id: 1 } })
    await service.reconcile()
    return body.service as { id: string; ip: string; ipv6: string; hostname: string }
  }
  const set = (id: string, hostname: unknown) =>
    service.ask('PUT', `/services/${id}/rdns`, { token, body: { hostname } })
  const cancel = async ({ id, hostname }: { id: string; hostname: string }) => {
    const body = { mode: 'immediate', confirm: hostname }
    await service.ask('POST', `/services/${id}/cancel`, { token, body })
    await service.reconcile()
  }
  const rows = async () => (await service.services.db.query('select address from vps_rdns')).rows

  test('default: published for each address that the name leads to; another name; null; nothing stays', async () => {
    const vps = await order()
    rdns.forward.add(`one.example.net ${vps.ip}`).add(`one.example.net ${vps.ipv6}`)
    const record = (address: string, hostname: string | null, published: boolean) => ({
      address,
      hostname,
      published,
      reason: null,
    })
    expect(await set(vps.id, 'One.Example.NET')).toMatchObject({
      status: 200,
      body: {
        records: [record(vps.ip, 'one.example.net', false), record(vps.ipv6, 'one.example.net', false)],
      },
    })
    await service.reconcile()
    expect([rdns.names.get(vps.ip), rdns.names.get(vps.ipv6)]).toEqual(['one.example.net', 'one.example.net'])
    expect((await set(vps.id, 'one.example.net')).body.records).toEqual([
      record(vps.ip, 'one.example.net', true),
      record(vps.ipv6, 'one.example.net', true),
    ])
    rdns.forward.add(`two.example.net ${vps.ip}`)
    await set(vps.id, 'two.example.net')
    await service.reconcile()
    expect(rdns.names.get(vps.ip)).toBe('two.example.net')
    expect(rdns.names.get(vps.ipv6)).toBe('one.example.net')
    await set(vps.id, null)
    await service.reconcile()
    expect(rdns.names.size).toBe(0)
    expect(await rows()).toEqual([])
  })

  test('behavior: a name that does not lead there waits, and is looked at again when it is asked for again', async () => {
    const vps = await order()
    await set(vps.id, 'late.example.net')
    await service.reconcile()
    const [record] = (await set(vps.id, 'late.example.net')).body.records
    expect(record).toMatchObject({ published: false, reason: expect.stringContaining(vps.ip) })
    expect(rdns.names.size).toBe(0)
    rdns.forward.add(`late.example.net ${vps.ip}`)
    await service.reconcile()
    expect(rdns.names.get(vps.ip)).toBe('late.example.net')
    // The other address is tried again later by itself.
    rdns.forward.add(`late.example.net ${vps.ipv6}`)
    await service.reconcile()
    expect(rdns.names.get(vps.ipv6)).toBeUndefined()
    service.clock.advance(retryAfter(10))
    await service.reconcile()
    expect(rdns.names.get(vps.ipv6)).toBe('late.example.net')
    await cancel(vps)
  })

  test('behavior: with the machine the name goes, however late the name server takes it', async () => {
    const vps = await order()
    rdns.forward.add(`web.example.net ${vps.ip}`).add(`web.example.net ${vps.ipv6}`)
    await set(vps.id, 'web.example.net')
    await service.reconcile()
    expect(rdns.names.size).toBe(2)
    rdns.refuses = true
    await cancel(vps)
    expect(rdns.names.size).toBe(2)
    rdns.refuses = false
    service.clock.advance(retryAfter(10))
    await service.reconcile()
    expect(rdns.names.size).toBe(0)
    expect(await rows()).toEqual([])
  })

  test('behavior: the next machine with the address is never called by the last name', async () => {
    const vps = await order()
    rdns.forward.add(`old.example.net ${vps.ip}`).add(`new.example.net ${vps.ip}`)
    await set(vps.id, 'old.example.net')
    await service.reconcile()
    rdns.refuses = true
    await cancel(vps)
    const others = []
    let next = await order()
    while (next.ip !== vps.ip) {
      others.push(next)
      next = await order()
    }
    await set(next.id, 'new.example.net')
    rdns.refuses = false
    await service.reconcile()
    expect(rdns.names.get(vps.ip)).toBe('new.example.net')
    await set(next.id, null)
    service.clock.advance(retryAfter(10))
    await service.reconcile()
    expect(rdns.names.get(vps.ip)).toBeUndefined()
    for (const other of [...others, next]) await cancel(other)
  })

  test('behavior: with an IPv6 address alone it is that one', async () => {
    const vps = await order('nano')
    const { body } = await set(vps.id, 'six.example.net')
    expect(body.records.map(({ address }: { address: string }) => address)).toEqual([vps.ipv6])
    await cancel(vps)
    expect((await set(vps.id, 'six.example.net')).body.code).toBe('service_busy')
  })

  test.each(['localhost', '198.18.0.7', 'a b.example.net', '', 'x.example.net; send', 7])(
    'error: the name %j',
    async (hostname) => {
      const { id } = (await service.ask('GET', '/services?status=deleted', { token })).body[0]
      expect((await set(id, hostname)).body.code).toBe('invalid_input')
    },
  )
})

test('error: no address of its own; no name server', async () => {
  const plain = await startTestService({
    features: ['firewall', 'ownAddresses'],
    env: { COINRACK_ADDRESS_POOL: '198.18.0.0/29' },
  })
  try {
    const { token } = await plain.customer(50_000_000n)
    const codeFor = async (product: string) => {
      const { body } = await plain.ask('POST', '/orders', { token, body: { product, os_id: 1 } })
      const path = `/services/${body.service_id}/rdns`
      return (await plain.ask('PUT', path, { token, body: { hostname: 'one.example.net' } })).body.code
    }
    expect(await codeFor('nano')).toBe('no_own_address')
    expect(await codeFor('micro-ip')).toBe('rdns_unavailable')
  } finally {
    await plain.close()
  }
})

test('default: tries are made at growing distance, at most an hour', () => {
  expect([0, 1, 2, 7, 8, 100].map(retryAfter)).toEqual([
    15_000, 30_000, 60_000, 1_920_000, 3_600_000, 3_600_000,
  ])
})
