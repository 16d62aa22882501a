import { allFeatures } from '@coinrack/compute/fake/driver.ts'
import { poorFeatures } from '@coinrack/compute/fake/modes.ts'
import { DriverError, type HostFeatures } from '@coinrack/compute/ports/vps-driver.ts'
import { type VpsFeature, vpsFeatures } from '@coinrack/contract/features.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { startTestService, type TestService } from '../../process/testing.ts'

const without = (...names: (keyof HostFeatures)[]) => ({
  ...allFeatures,
  ...Object.fromEntries(names.map((name) => [name, false])),
})

type Step = { tool: string; arguments: Record<string, unknown> }

describe('a VPS of a host that has nothing but ports', () => {
  let service: TestService
  let token: string
  let id: string
  beforeAll(async () => {
    service = await startTestService({ driver: { features: poorFeatures } })
    ;({ token } = await service.customer(20_000_000n))
    const body = { product: 'nano', os_id: 1, hostname: 'plain' }
    id = (await service.ask('POST', '/orders', { token, body })).body.service_id
    await service.reconcile()
  })
  afterAll(async () => {
    await expectBooksToBalance(service.services.db)
    await service.close()
  })
  const ask = (method: 'GET' | 'POST' | 'PUT', path: string, body?: object) =>
    service.ask(method, `/services/${id}${path}`, { token, ...(body && { body }) })
  const machine = () => service.driver.machines.get(id)!

  test('default: it says so, and so does the catalog', async () => {
    expect((await ask('GET', '?reveal=false')).body).toMatchObject({ ssh_ready: true, features: [] })
    const [plan] = (await service.ask('GET', '/products', { token })).body
    expect(plan).toMatchObject({ available: true, features: { local: [] } })
  })

  test.each<[VpsFeature, 'POST' | 'PUT' | 'GET', string, object | undefined]>([
    ['firewall', 'PUT', '/firewall', { rules: [] }],
    ['firewall', 'POST', '/ports', { port: 80 }],
    ['memory_snapshots', 'POST', '/snapshots', { include_memory: true }],
    ['serial_console', 'POST', '/console', { type: 'serial' }],
    ['screen', 'POST', '/console', { type: 'vnc' }],
    ['rescue', 'POST', '/rescue', { enabled: true }],
    ['guest_commands', 'POST', '/hostname', { hostname: 'other' }],
    ['guest_commands', 'POST', '/exec', { command: 'true' }],
    ['guest_commands', 'GET', '/files?path=/etc/hostname', undefined],
    ['guest_commands', 'PUT', '/files', { path: '/root/x', content: 'x' }],
  ])(
    'error: %s is refused to %s %s, with another way, and nothing is written',
    async (feature, method, path, body) => {
      const stored = async () =>
        (
          await service.services.db.query(
            `select to_jsonb(vps) as vps, (select count(*) from vps_operation) as work,
             (select count(*) from vps_snapshot) as snapshots, (select count(*) from vps_port) as ports from vps`,
          )
        ).rows
      const before = await stored()
      const refused = await ask(method, path, body)
      expect(refused).toMatchObject({ status: 422, body: { code: 'unsupported', feature } })
      expect(refused.body.fix).not.toContain('get_vps_status shows those that it has')
      const steps: Step[] = refused.body.next_steps
      expect(steps.length).toBeGreaterThan(0)
      expect(await stored()).toEqual(before)
      for (const step of steps) {
        const { body: answer, isError } = await service.tool(step.tool, step.arguments, { token })
        expect([step.tool, isError, answer.code]).toEqual([step.tool, false, undefined])
        await service.reconcile()
      }
    },
  )

  test('error: whatever state it is in: no start, and no renewal, is asked of a caller for what would be refused after it', async () => {
    await ask('POST', '/power', { action: 'stop' })
    await service.reconcile()
    for (const [method, path, body] of [
      ['POST', '/console', { type: 'serial' }],
      ['POST', '/exec', { command: 'true' }],
      ['GET', '/files?path=/etc/hostname'],
    ] as const)
      expect((await ask(method, path, body)).body.code).toBe('unsupported')
    const order = { product: 'nano', os_id: 1, hostname: 'slow-boot' }
    const made = (await service.ask('POST', '/orders', { token, body: order })).body.service_id
    for (const [method, path, body] of [
      ['POST', 'hostname', { hostname: 'other' }],
      ['POST', 'rescue', { enabled: true }],
    ] as const)
      expect((await service.ask(method, `/services/${made}/${path}`, { token, body })).body.code).toBe(
        'unsupported',
      )
    await ask('POST', '/power', { action: 'start' })
    await service.reconcile()
  })

  test('behavior: a password is set by the next boot', async () => {
    await ask('GET', '')
    const { operation } = (await ask('POST', '/reset-password')).body
    await service.reconcile()
    const work = async () => (await service.ask('GET', `/operations/${operation.id}`, { token })).body
    expect(await work()).toMatchObject({ status: 'running', progress: expect.stringContaining('next boot') })
    const before = machine().inside.rootPasswordHash
    await ask('POST', '/power', { action: 'reboot' })
    await service.reconcile()
    await service.settle()
    expect(await work()).toMatchObject({ status: 'succeeded' })
    expect(machine().inside.rootPasswordHash).not.toBe(before)
    expect((await ask('GET', '')).body.root_password).toEqual(expect.any(String))
  })

  test('behavior: a reinstall and a cancellation keep no disk, and are done all the same', async () => {
    const kept = async () =>
      (await ask('GET', '/snapshots')).body.filter(({ reason }: { reason: string | null }) => reason !== null)
    await ask('POST', '/reinstall', { os_id: 2, confirm: true })
    await service.reconcile()
    expect((await ask('GET', '?reveal=false')).body).toMatchObject({ status: 'active', os: { os_id: 2 } })
    expect(await kept()).toEqual([])
    const { body } = await ask('POST', '/cancel', { mode: 'immediate', confirm: true })
    expect(Number(body.credited)).toBeGreaterThan(0)
    await service.reconcile()
    expect(service.driver.machines.has(id)).toBe(false)
    expect(await kept()).toEqual([])
    const { rows } = await service.services.db.query(
      'select machine_gone_at is not null as gone from vps where id = $1',
      [id],
    )
    expect(rows).toEqual([{ gone: true }])
  })
})

test.each<[VpsFeature, keyof HostFeatures, string, object, Step]>([
  ['serial_console', 'serialConsole', '/console', {}, { tool: 'open_console', arguments: { type: 'vnc' } }],
  ['screen', 'screen', '/console', { type: 'vnc' }, { tool: 'open_console', arguments: { type: 'serial' } }],
  ['rescue', 'rescue', '/rescue', { enabled: true }, { tool: 'open_console', arguments: {} }],
  [
    'memory_snapshots',
    'memorySnapshots',
    '/snapshots',
    { include_memory: true },
    { tool: 'create_snapshot', arguments: { include_memory: false } },
  ],
])(
  'behavior: without %s alone, what the host has is the other way',
  async (feature, name, path, body, step) => {
    const service = await startTestService({ driver: { features: without(name) } })
    try {
      const { token } = await service.customer(20_000_000n)
      const order = { product: 'nano', os_id: 1 }
      const id = (await service.ask('POST', '/orders', { token, body: order })).body.service_id
      await service.reconcile()
      const shown = (await service.ask('GET', `/services/${id}?reveal=false`, { token })).body
      expect(shown.features).toEqual(vpsFeatures.filter((other) => other !== feature))
      const refused = await service.ask('POST', `/services/${id}${path}`, { token, body })
      expect(refused.body).toMatchObject({ code: 'unsupported', feature, next_steps: [step] })
    } finally {
      await service.close()
    }
  },
)

describe('hosts of different kinds', () => {
  let service: TestService
  let token: string
  beforeAll(async () => {
    const network = { COINRACK_ADDRESS_POOL: '198.18.0.0/28', COINRACK_ADDRESS_IPV6: '2001:db8:1:2::/64' }
    service = await startTestService({
      env: network,
      driver: { features: without('portForwarding', 'screen') },
      hosts: [
        {
          id: 'east-1',
          region: 'east',
          driver: { features: without('rescue', 'firewall', 'ownAddresses', 'ipv6') },
        },
        { id: 'east-2', region: 'east', driver: { features: without('screen', 'ipv6') } },
        { id: 'west-1', region: 'west', driver: { features: without('ipv6') } },
        { id: 'west-2', region: 'west', driver: { features: allFeatures } },
        { id: 'west-3', region: 'west', driver: { features: allFeatures } },
      ],
    })
    ;({ token } = await service.customer(100_000_000n))
  })
  afterAll(() => service.close())
  const order = async (body: object) =>
    service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1, ...body } })
  const hostOfService = async (id: string) =>
    (await service.services.db.query('select host_id from vps where id = $1', [id])).rows[0].host_id

  test('default: the catalog shows what a VPS has on whichever host of a region it is placed', async () => {
    const plans = (await service.ask('GET', '/products')).body
    const featuresOf = (slug: string) => plans.find((plan: { slug: string }) => plan.slug === slug).features
    const rest = ['memory_snapshots', 'retained_disks', 'serial_console']
    expect(featuresOf('nano')).toEqual({
      // It sells no ports of its own address.
      local: [],
      east: [...rest, 'guest_commands'],
      west: ['firewall', ...rest, 'screen', 'rescue', 'guest_commands'],
    })
    expect(featuresOf('micro-ip')).toMatchObject({
      local: ['firewall', 'ipv6', ...rest, 'rescue', 'guest_commands'],
      east: ['firewall', ...rest, 'rescue', 'guest_commands'],
    })
  })

  test('behavior: an order is placed only where the host has what it needs', async () => {
    expect((await order({ region: 'local' })).body.code).toBe('capacity')
    const own = (await order({ region: 'east', product: 'micro-ip' })).body.service
    expect(own).toMatchObject({ ssh_port: 22, ipv6: null })
    expect(await hostOfService(own.id)).toBe('east-2')
    expect((await order({ region: 'local', product: 'micro-ip' })).body.service.ipv6).toEqual(
      expect.any(String),
    )
  })

  test('behavior: a machine that its host refuses moves only where it can have an IPv6 address again', async () => {
    for (let round = 0; round < 6; round++) {
      const { body } = await order({ region: 'west', hostname: `moves-${round}` })
      const from = await hostOfService(body.service_id)
      const { driver } = service.fakeHosts.get(from)!
      const { ensure } = driver
      driver.ensure = async () => {
        throw new DriverError('no_space', 'The disk is full')
      }
      await service.reconcile()
      driver.ensure = ensure
      const { ipv6, status } = (
        await service.ask('GET', `/services/${body.service_id}?reveal=false`, { token })
      ).body
      const to = await hostOfService(body.service_id)
      expect([status, to === from]).toEqual(['active', false])
      if (body.service.ipv6 !== null) expect([to === 'west-1', ipv6 === null]).toEqual([false, false])
    }
  })
})
