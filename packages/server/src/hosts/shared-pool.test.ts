import { expect, test } from 'vitest'
import { startTestService } from '../process/testing.ts'

const HOSTS = 8

test('behavior: hosts that share a pool give none of its addresses twice, however many order at the same moment', async () => {
  const network = { addressPool: [{ from: '198.18.7.1', to: `198.18.7.${HOSTS}` }], sharedPool: 'cluster' }
  const service = await startTestService({
    env: { COINRACK_ADDRESS_POOL: '198.18.0.0/30' },
    features: ['firewall', 'ownAddresses'],
    driver: { features: { ownAddresses: false } },
    hosts: Array.from({ length: HOSTS }, (_, index) => ({ id: `host-${index}`, region: 'east', network })),
  })
  try {
    await service.observeHosts()
    const customers = await Promise.all(Array.from({ length: HOSTS }, () => service.customer(50_000_000n)))
    const body = { product: 'micro-ip', os_id: 1 }
    const answers = await Promise.all(
      customers.map(({ token }) => service.ask('POST', '/orders', { token, body })),
    )
    expect(answers.map(({ status }) => status)).toEqual(customers.map(() => 200))
    const { rows } = await service.services.db.query<{ ipv4: string }>('select ipv4 from vps')
    expect(new Set(rows.map(({ ipv4 }) => ipv4)).size).toBe(HOSTS)
    const next = await service.customer(50_000_000n)
    expect(await service.ask('POST', '/orders', { token: next.token, body })).toMatchObject({
      status: 503,
      body: { code: 'capacity' },
    })
  } finally {
    await service.close()
  }
})
