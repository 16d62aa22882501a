import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'

let service: TestService
let token: string
let id: string
beforeAll(async () => {
  const classes = ['REGISTER', 'ORDERS', 'REINSTALLS']
  service = await startTestService({
    features: ['rescue', 'retainedDisks', 'guestCommands'],
    env: Object.fromEntries(classes.map((name) => [`COINRACK_RATE_${name}`, '100000/min'])),
  })
})
afterAll(() => service.close())
beforeEach(async () => {
  ;({ token } = await service.customer(10_000_000n))
  const body = { product: 'nano', os_id: 1, hostname: 'web' }
  id = (await service.ask('POST', '/orders', { token, body })).body.service_id
  await service.reconcile()
})

const ask = (path: string, body: object = {}) =>
  service.ask('POST', `/services/${id}/${path}`, { token, body })
const done = async (path: string, body: object = {}) => {
  const answer = await ask(path, body)
  await service.reconcile()
  return answer.body
}
const status = async () => (await service.ask('GET', `/services/${id}?reveal=false`, { token })).body
const work = async (operation: { id: string }) =>
  (await service.ask('GET', `/operations/${operation.id}`, { token })).body
const machine = () => service.driver.machines.get(id)!

test('default: the rescue system runs at the same address, and then its own again', async () => {
  const before = await status()
  expect(before.rescue).toBe(false)
  const { body } = await ask('rescue', { enabled: true })
  expect(body.service).toMatchObject({ status: 'rebooting', rescue: true, ssh_ready: false })
  expect(body.operation).toMatchObject({ kind: 'enter_rescue', status: 'running' })
  await service.reconcile()
  expect(await work(body.operation)).toMatchObject({ status: 'succeeded' })
  expect(await status()).toMatchObject({ status: 'active', rescue: true, ssh_ready: true, ssh: before.ssh })
  expect([machine().runsRescue, machine().starts]).toEqual([true, 2])
  const left = await done('rescue', { enabled: false })
  expect(await work(left.operation)).toMatchObject({ kind: 'leave_rescue', status: 'succeeded' })
  expect(await status()).toMatchObject({ status: 'active', rescue: false })
  expect([machine().runsRescue, machine().starts]).toEqual([false, 3])
})

test('behavior: what is so already is left alone', async () => {
  const first = await done('rescue', { enabled: false })
  expect(first.operation.status).toBe('succeeded')
  await done('rescue', { enabled: true })
  const again = await ask('rescue', { enabled: true })
  expect(again.body.operation.status).toBe('succeeded')
  await service.reconcile()
  expect(machine().starts).toBe(2)
})

test('behavior: one that is off is started; power acts on the system that runs', async () => {
  await done('power', { action: 'stop' })
  await done('rescue', { enabled: true })
  expect(await status()).toMatchObject({ status: 'active', rescue: true })
  for (const action of ['reboot', 'reset', 'stop', 'start']) await done('power', { action })
  expect(await status()).toMatchObject({ status: 'active', rescue: true })
  expect(machine().runsRescue).toBe(true)
})

test('behavior: changed its mind before it was there', async () => {
  const { body } = await ask('rescue', { enabled: true })
  await done('rescue', { enabled: false })
  expect(await work(body.operation)).toMatchObject({ status: 'superseded', error: /else was asked/ })
  expect(await status()).toMatchObject({ status: 'active', rescue: false })
  expect(machine().runsRescue).toBe(false)
})

test('behavior: what is meant for the own system waits for it, or is refused', async () => {
  service.guests.silence(id, true)
  const reset = await done('reset-password')
  await done('rescue', { enabled: true })
  service.guests.silence(id, false)
  service.clock.advance(10_000)
  await service.reconcile()
  expect(await work(reset.operation)).toMatchObject({ status: 'running' })
  for (const [path, body] of [
    ['hostname', { hostname: 'other' }],
    ['reset-password', {}],
    ['snapshots', {}],
  ] as const)
    expect([path, (await ask(path, body)).body.code]).toEqual([path, 'service_busy'])
  await done('rescue', { enabled: false })
  await service.settle()
  expect(await work(reset.operation)).toMatchObject({ status: 'succeeded' })
})

test('behavior: a reinstall out of rescue is a machine of its own, and so is what it can go back to', async () => {
  await done('rescue', { enabled: true })
  await done('reinstall', { os_id: 2, confirm: 'DELETE' })
  expect(await status()).toMatchObject({ status: 'active', rescue: false, os: { os_id: 2 } })
  expect([machine().runsRescue, machine().starts]).toEqual([false, 1])
  await done('rescue', { enabled: true })
  const [kept] = (await service.ask('GET', `/services/${id}/snapshots`, { token })).body
  await done(`snapshots/${kept.id}/restore`)
  expect(await status()).toMatchObject({ status: 'active', rescue: false, os: { os_id: 1 } })
  expect(machine().runsRescue).toBe(false)
})

test('error: while it is being made, and input that says nothing', async () => {
  const body = { product: 'nano', os_id: 1, hostname: 'slow-boot' }
  expect((await ask('rescue', {})).body.code).toBe('invalid_input')
  id = (await service.ask('POST', '/orders', { token, body })).body.service_id
  expect((await ask('rescue', { enabled: true })).body.code).toBe('service_busy')
})

test('behavior: a start of which nobody heard that it was done is done once', async () => {
  const { power } = service.driver
  for (const [enabled, starts] of [
    [true, 2],
    [false, 3],
  ] as const) {
    let isLost = false
    service.driver.power = async (id, action, boot) => {
      await power(id, action, boot)
      if (action !== 'start' || isLost) return
      isLost = true
      throw new Error('read ECONNRESET')
    }
    await done('rescue', { enabled })
    service.driver.power = power
    expect(await status()).toMatchObject({ status: 'active', rescue: enabled, ssh_ready: true })
    expect([machine().runsRescue, machine().starts]).toEqual([enabled, starts])
  }
})

test('behavior: wished for beside a reboot, it is not taken for that', async () => {
  await ask('power', { action: 'reboot' })
  await ask('rescue', { enabled: true })
  await ask('power', { action: 'reboot' })
  const { power } = service.driver
  // The reboot of before the wish, whose answer this process did not get.
  await power(id, 'reboot', 1)
  await service.reconcile()
  expect(await status()).toMatchObject({ status: 'active', rescue: true })
  expect(machine().runsRescue).toBe(true)
})
