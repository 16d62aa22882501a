import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chooseAddress } from '../../hosts/address-pool.ts'
import { startTestService, type TestService } from '../../process/testing.ts'

describe('the address for the next machine', () => {
  const pool = ['198.18.0.1', '198.18.0.2', '198.18.0.3']
  const use = (ipv4: string, free?: string) => ({
    ipv4,
    taken: free === undefined,
    free_since: free === undefined ? null : new Date(free),
  })

  test('default: the first that none had yet', () => {
    expect(chooseAddress(pool, [])).toBe('198.18.0.1')
    expect(chooseAddress(pool, [use('198.18.0.1'), use('198.18.0.2', '2026-01-01')])).toBe('198.18.0.3')
  })

  test('behavior: else the one that has been free for longest; none', () => {
    const used = [
      use('198.18.0.1', '2026-01-02'),
      use('198.18.0.2', '2026-01-01'),
      use('198.18.0.3', '2026-01-03'),
    ]
    expect(chooseAddress(pool, used)).toBe('198.18.0.2')
    expect(
      chooseAddress(
        pool,
        pool.map((ipv4) => use(ipv4)),
      ),
    ).toBeUndefined()
  })
})

describe('plans with an address of their own', () => {
  let service: TestService
  let token: string
  beforeAll(async () => {
    service = await startTestService({
      features: ['firewall', 'ownAddresses', 'ipv6'],
      env: { COINRACK_ADDRESS_POOL: '198.18.0.0/30', COINRACK_RATE_ORDERS: '1000/min' },
    })
    ;({ token } = await service.customer(500_000_000n))
  })
  afterAll(() => service.close())

  const order = (product = 'micro-ip') =>
    service.ask('POST', '/orders', { token, body: { product, os_id: 1 } })
  const planOf = async (slug: string) => {
    // The offer may be a second old.
    service.clock.advance(1000)
    return (await service.ask('GET', '/products')).body.find((plan: { slug: string }) => plan.slug === slug)
  }
  const cancel = async (id: string) => {
    const { hostname } = (await service.ask('GET', `/services/${id}`, { token })).body
    const body = { mode: 'immediate', confirm: hostname }
    await service.ask('POST', `/services/${id}/cancel`, { token, body })
    await service.reconcile()
  }
  const held = async () => (await service.ask('GET', '/balance', { token })).body.held

  test('behavior: without addresses to give they are neither shown nor sold', async () => {
    const plain = await startTestService()
    try {
      const { body } = await plain.ask('GET', '/products')
      expect(body.filter((plan: { network: string }) => plan.network !== 'nat')).toEqual([])
      const customer = await plain.customer(20_000_000n)
      const refused = await plain.ask('POST', '/orders', {
        token: customer.token,
        body: { product: 'micro-ip', os_id: 1 },
      })
      expect(refused).toMatchObject({ status: 422, body: { code: 'unknown_product' } })
    } finally {
      await plain.close()
    }
  })

  test('behavior: where machines have no networks of their own there is no room', async () => {
    const weak = await startTestService({
      driver: { features: { firewall: false, ownAddresses: false, ipv6: false } },
      env: { COINRACK_ADDRESS_POOL: '198.18.0.0/30' },
    })
    try {
      const { body } = await weak.ask('GET', '/products')
      const available = body.filter((plan: { available: boolean }) => plan.available)
      expect(new Set(available.map((plan: { network: string }) => plan.network))).toEqual(new Set(['nat']))
    } finally {
      await weak.close()
    }
  })

  test('default: address, port 22, every port; two machines, then no room before anything is held', async () => {
    expect(await planOf('micro-ip')).toMatchObject({ network: 'dedicated', available: true })
    const placed = await Promise.all([order(), order(), order()])
    const [first, second] = placed.filter(({ status }) => status === 200).map(({ body }) => body.service)
    const refused = placed.find(({ status }) => status !== 200)!
    expect([first.ip, second.ip].sort()).toEqual(['198.18.0.1', '198.18.0.2'])
    expect(first).toMatchObject({ ssh_port: 22, ssh: { host: first.ip, port: 22 } })
    expect(first.ssh.known_hosts[0]).toMatch(new RegExp(`^${first.ip} ssh-ed25519 `))
    expect(refused).toMatchObject({ status: 503, body: { code: 'capacity' } })
    expect(await held()).toBe('14.00')
    expect(await planOf('micro-ip')).toMatchObject({ available: false })
    expect(await planOf('micro')).toMatchObject({ available: true })

    await service.reconcile()
    expect(service.driver.machines.get(first.id)!.spec).toMatchObject({
      sshAddress: { host: first.ip, port: 22 },
      addresses: { ipv4: first.ip },
    })
    expect(first.ipv6).toBeNull()
    expect(service.driver.machines.get(second.id)!.spec).toMatchObject({
      addresses: { ipv4: second.ip },
    })
    const opened = await service.ask('POST', `/services/${first.id}/ports`, { token, body: { port: 443 } })
    expect(opened.body).toEqual({ protocol: 'tcp', port: 443, public_port: 443, host: first.ip })
    expect((await service.ask('GET', `/services/${first.id}/ports`, { token })).body).toEqual([])
    const options = (await service.ask('GET', `/services/${first.id}/upgrade-options`, { token })).body
      .options
    expect(options.map((option: { target_plan: string }) => option.target_plan)).toEqual([
      'small-ip',
      'medium-ip',
    ])

    await cancel(first.id)
    const again = (await order()).body.service
    expect(again.ip).toBe(first.ip)
    expect((await order()).status).toBe(503)
    // A machine with the host's address has none of these.
    const shared = (await order('micro')).body.service
    expect(shared).toMatchObject({ ip: '127.0.0.1' })
    expect(shared.ssh_port).toBeGreaterThan(1024)
  })
})

describe('IPv6', () => {
  test('default: every new machine has an address that none had before', async () => {
    const service = await startTestService({
      features: ['firewall', 'ownAddresses', 'ipv6'],
      env: { COINRACK_ADDRESS_IPV6: '2001:db8:1:2::/64' },
    })
    try {
      const { token } = await service.customer(50_000_000n)
      const order = async () =>
        (await service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1 } })).body.service
      const [first, second] = await Promise.all([order(), order()])
      expect([first.ipv6, second.ipv6].sort()).toEqual(['2001:db8:1:2::100', '2001:db8:1:2::101'])
      expect(first.ssh.known_hosts).toContainEqual(
        expect.stringMatching(new RegExp(`^${first.ipv6} ssh-ed25519 `)),
      )
      await service.reconcile()
      expect(service.driver.machines.get(first.id)!.spec.addresses).toEqual({ ipv6: first.ipv6 })
      const shown = (await service.ask('GET', `/services/${first.id}`, { token })).body
      expect(shown).toMatchObject({ ip: '127.0.0.1', ipv6: first.ipv6 })
      const body = { mode: 'immediate', confirm: shown.hostname }
      await service.ask('POST', `/services/${first.id}/cancel`, { token, body })
      await service.reconcile()
      expect((await order()).ipv6).toBe('2001:db8:1:2::102')
    } finally {
      await service.close()
    }
  })

  test('behavior: where machines have no networks of their own there is none', async () => {
    const service = await startTestService({
      driver: { features: { firewall: false, ownAddresses: false, ipv6: false } },
      env: { COINRACK_ADDRESS_IPV6: '2001:db8:1:2::/64' },
    })
    try {
      const { token } = await service.customer(50_000_000n)
      const { body } = await service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1 } })
      expect(body.service.ipv6).toBeNull()
    } finally {
      await service.close()
    }
  })
})
