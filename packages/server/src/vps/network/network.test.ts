import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'
import { createVpsReconciler } from '../machine/reconcile-vps.ts'

let service: TestService
let token: string
let id: string
beforeAll(async () => {
  service = await startTestService({
    features: ['firewall', 'ownAddresses'],
    env: { COINRACK_RATE_REGISTER: '1000/min', COINRACK_SSH_PORTS: '30100-30160' },
  })
})
afterAll(() => service.close())
beforeEach(() => order('web'))

async function order(hostname: string): Promise<void> {
  ;({ token } = await service.customer(10_000_000n))
  const body = { product: 'micro', os_id: 1, hostname }
  id = (await service.ask('POST', '/orders', { token, body })).body.service_id
  await service.reconcile()
}
const firewall = () => service.ask('GET', `/services/${id}/firewall`, { token })
const setFirewall = (body: object) => service.ask('PUT', `/services/${id}/firewall`, { token, body })
const ports = () => service.ask('GET', `/services/${id}/ports`, { token })
const openPort = (body: object) => service.ask('POST', `/services/${id}/ports`, { token, body })
const closePort = (port: number | string) => service.ask('DELETE', `/services/${id}/ports/${port}`, { token })
const machine = () => service.driver.machines.get(id)!
const cancel = () =>
  service.ask('POST', `/services/${id}/cancel`, { token, body: { mode: 'immediate', confirm: 'web' } })

describe('firewall', () => {
  const rules = [
    { action: 'allow', direction: 'in', protocol: 'tcp', ports: ['22', '8000-8100'], cidr: '203.0.113.0/24' },
    { action: 'deny', direction: 'out', protocol: 'any', cidr: '198.51.100.7' },
  ]

  test('default: a new VPS is open', async () => {
    expect(await firewall()).toMatchObject({
      status: 200,
      body: { default_in: 'allow', default_out: 'allow', rules: [], applied: true },
    })
  })

  test('default: what is set comes to the machine, in its order', async () => {
    const answer = await setFirewall({ default_in: 'deny', rules })
    expect(answer.body).toMatchObject({ default_in: 'deny', default_out: 'allow', rules, applied: false })
    await service.reconcile()
    expect((await firewall()).body).toMatchObject({ rules, applied: true })
    expect(machine().network.firewall).toEqual({ defaultIn: 'deny', defaultOut: 'allow', rules })
  })

  test('behavior: a steady machine is told once, and once more by a new process', async () => {
    await setFirewall({ rules })
    await service.reconcile()
    const before = machine().networkApplications
    await service.reconcile()
    expect(machine().networkApplications).toBe(before)
    const next = createVpsReconciler(service.services)
    for (let pass = service.mode === undefined ? 2 : 8; pass > 0; pass--) {
      await next.pass()
      await next.idle()
    }
    // Work that a lossy host has done without an answer is done once more.
    if (service.mode === 'lossy') expect(machine().networkApplications).toBeGreaterThan(before)
    else expect(machine().networkApplications).toBe(before + 1)
  })

  test('behavior: it is replaced as a whole, also while the machine is off', async () => {
    await setFirewall({ default_out: 'deny', rules })
    await service.reconcile()
    await service.ask('POST', `/services/${id}/power`, { token, body: { action: 'stop' } })
    await service.reconcile()
    await setFirewall({ rules: [] })
    await service.reconcile()
    expect((await firewall()).body).toMatchObject({ default_out: 'allow', rules: [], applied: true })
    expect(machine().network.firewall.rules).toEqual([])
  })

  test.each([
    [{ ports: ['22; accept'] }, 'rules.0.ports.0'],
    [{ ports: ['0'] }, 'rules.0.ports.0'],
    [{ ports: ['90-80'] }, 'rules.0.ports.0'],
    [{ protocol: 'icmp' }, 'rules.0.ports'],
    [{ cidr: '203.0.113.0/33' }, 'rules.0.cidr'],
    [{ cidr: '256.1.1.1' }, 'rules.0.cidr'],
    [{ cidr: '2001:db8::/129' }, 'rules.0.cidr'],
    [{ cidr: '2001:db8::1::2' }, 'rules.0.cidr'],
    [{ cidr: '::ffff:10.0.0.1' }, 'rules.0.cidr'],
    [{ action: 'reject' }, 'rules.0.action'],
  ])('error: a rule with %j', async (change, path) => {
    const rule = { action: 'allow', direction: 'in', protocol: 'tcp', ports: ['22'], ...change }
    const { status, body } = await setFirewall({ rules: [rule] })
    expect([status, body.code]).toEqual([422, 'invalid_input'])
    expect(body.details[0].path).toBe(path)
  })

  test('error: more than a hundred rules', async () => {
    const rule = { action: 'allow', direction: 'in' }
    expect((await setFirewall({ rules: Array(101).fill(rule) })).body.code).toBe('invalid_input')
    expect((await setFirewall({ rules: Array(100).fill(rule) })).status).toBe(200)
  })

  test('error: of a VPS that is deleted', async () => {
    await cancel()
    expect((await setFirewall({ rules: [] })).body.code).toBe('service_busy')
  })

  test('behavior: rules whose answer was lost are given to the machine again at once', async () => {
    const { applyNetwork } = service.driver
    let calls = 0
    service.driver.applyNetwork = async (...given) => {
      if (++calls === 1) throw new Error('read ECONNRESET')
      return applyNetwork(...given)
    }
    await setFirewall({ default_in: 'deny', default_out: 'allow', rules: [] })
    await service.reconcile()
    service.driver.applyNetwork = applyNetwork
    expect(machine().network.firewall).toMatchObject({ defaultIn: 'deny' })
  })

  test('behavior: rules that do not load are shown as not applied, and the machine is delivered all the same', async () => {
    await order('fail-network')
    await setFirewall({ rules })
    await service.reconcile()
    expect((await firewall()).body).toMatchObject({ applied: false })
    const { body } = await service.ask('GET', `/services/${id}`, { token })
    expect(body).toMatchObject({ status: 'active', ssh_ready: true })
  })
})

describe('ports', () => {
  test('default: opened, listed, closed', async () => {
    expect((await ports()).body).toEqual([])
    const opened = await openPort({ port: 443 })
    expect(opened).toMatchObject({ status: 200, body: { protocol: 'tcp', port: 443, host: '127.0.0.1' } })
    const { public_port } = opened.body
    await service.reconcile()
    expect(machine().network.ports).toEqual([{ protocol: 'tcp', port: 443, publicPort: public_port }])
    expect((await ports()).body).toMatchObject([{ protocol: 'tcp', port: 443, public_port }])
    expect((await closePort(public_port)).body).toEqual({ closed: true })
    await service.reconcile()
    expect(machine().network.ports).toEqual([])
    expect((await closePort(public_port)).body).toEqual({ closed: false })
  })

  test('behavior: the same port twice is the same; the other protocol is another', async () => {
    const [first, second, udp] = [
      await openPort({ port: 53 }),
      await openPort({ port: 53 }),
      await openPort({ port: 53, protocol: 'udp' }),
    ]
    expect(second.body.public_port).toBe(first.body.public_port)
    expect(udp.body.public_port).not.toBe(first.body.public_port)
  })

  test('behavior: no two machines share a public port, nor one with SSH, also when they ask at once', async () => {
    const opened = await Promise.all([80, 81, 82, 83].map((port) => openPort({ port })))
    const own = opened.map(({ body }) => body.public_port)
    const first = (await service.ask('GET', `/services/${id}`, { token })).body.ssh_port
    await order('next')
    const next = (await service.ask('GET', `/services/${id}`, { token })).body.ssh_port
    const other = (await openPort({ port: 80 })).body.public_port
    expect(new Set([...own, first, next, other]).size).toBe(7)
  })

  test('behavior: a machine that is gone gives its ports back', async () => {
    const { public_port } = (await openPort({ port: 80 })).body
    await cancel()
    await service.reconcile()
    const { rows } = await service.services.db.query('select from vps_port where public_port = $1', [
      public_port,
    ])
    expect(rows).toEqual([])
  })

  test('error: more than twenty', async () => {
    for (let port = 1; port <= 20; port++) expect((await openPort({ port })).status).toBe(200)
    expect(await openPort({ port: 21 })).toMatchObject({ status: 409, body: { code: 'too_many_ports' } })
    expect((await openPort({ port: 20 })).status).toBe(200)
  })

  test('error: no public port is left', async () => {
    let reply = await openPort({ port: 1 })
    while (reply.status === 200) {
      await order('more')
      for (let port = 1; port <= 20 && reply.status === 200; port++) reply = await openPort({ port })
    }
    expect(reply).toMatchObject({ status: 503, body: { code: 'capacity' } })
    await service.services.db.query('delete from vps_port')
  })

  test.each(['0', '65536', 'x', '1.5'])('error: closing port %s', async (port) => {
    expect((await closePort(port)).body.code).toBe('invalid_input')
  })
})

test('error: a host that gives machines no network of their own says so before anything is stored', async () => {
  const weak = await startTestService({
    driver: { features: { firewall: false, ownAddresses: false, ipv6: false } },
  })
  try {
    const { token } = await weak.customer(10_000_000n)
    const { body } = await weak.ask('POST', '/orders', { token, body: { product: 'micro', os_id: 1 } })
    await weak.reconcile()
    const about = `/services/${body.service_id}`
    const set = await weak.ask('PUT', `${about}/firewall`, { token, body: { rules: [] } })
    const open = await weak.ask('POST', `${about}/ports`, { token, body: { port: 80 } })
    expect([set.body.code, open.body.code]).toEqual(['unsupported', 'unsupported'])
    expect((await weak.ask('GET', `${about}/ports`, { token })).body).toEqual([])
    expect((await weak.ask('GET', about, { token })).body).toMatchObject({ ssh_ready: true })
  } finally {
    await weak.close()
  }
})
