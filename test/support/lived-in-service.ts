import { createHash } from 'node:crypto'
import { sendQueuedMail } from '@coinrack/server/platform/queue-mail.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { billVps } from '@coinrack/server/vps/billing/bill-vps.ts'
import { expect } from 'vitest'

const hashOf = (name: string) => createHash('sha256').update(name).digest('hex')

const CODE = /\b\d{6}\b/
const MONTH_MS = 31 * 86_400_000
/** Secrets of a service that exists in tests only: what is sealed in its rows is opened with them. */
export const livedInEnv = {
  COINRACK_SERVER_SECRET: hashOf('server'),
  COINRACK_DEPOSIT_SECRET: hashOf('deposit'),
  COINRACK_RATE_ORDERS: '100000/min',
  COINRACK_RATE_DEFAULT: '100000/min',
  COINRACK_ADDRESS_POOL: '198.18.0.0/29',
}

/** The customers of a service that has been in use, by the state that what is theirs is in. */
export const livedIn = ['busy@rackmail.net', 'broke@rackmail.net', 'friend@rackmail.net'] as const

/** A service that has been in use for a month: a VPS in each state that can be reached, and all that hangs on them. */
export async function startLivedInService(): Promise<TestService> {
  const service = await startTestService({ env: livedInEnv })
  for (const email of livedIn) await service.ask('POST', '/auth/register', { body: { email } })
  const broke = await logIn(service, 'broke@rackmail.net')
  await service.credit(broke.accountId, 4_000_000n)
  await order(broke, { hostname: 'unpaid' })
  await service.reconcile()
  service.clock.advance(MONTH_MS)
  await billVps(service.services)
  await service.reconcile()

  const busy = await logIn(service, 'busy@rackmail.net')
  const friend = await logIn(service, 'friend@rackmail.net')
  await service.credit(busy.accountId, 200_000_000n)

  const names = ['web', 'off', 'rescued', 'grown', 'renamed', 'again', 'restored', 'gone', 'locked'] as const
  const ids = {} as Record<(typeof names)[number], string>
  for (const hostname of names) ids[hostname] = await order(busy, { hostname })
  await order(busy, { hostname: 'addressed', product: 'small-ip' })
  await order(busy, { hostname: 'hourly', billing_cycle: 'hourly', auto_renew: false })
  await order(busy, { hostname: 'data', user_data: '#!/bin/sh\ntrue\n', months: 3 })
  await service.reconcile()

  const on = (id: string) => ({
    post: (path: string, body: object = {}) => busy.send('POST', `/services/${id}${path}`, body),
    put: (path: string, body: object) => busy.send('PUT', `/services/${id}${path}`, body),
  })
  await on(ids.web).post('/ports', { port: 80, protocol: 'tcp' })
  await on(ids.web).put('/firewall', {
    default_in: 'deny',
    default_out: 'allow',
    rules: [{ action: 'allow', direction: 'in', protocol: 'tcp', ports: ['22', '80'], cidr: '0.0.0.0/0' }],
  })
  await on(ids.web).post('/snapshots', { name: 'first', include_memory: true })
  await on(ids.web).post('/delegations', { email: livedIn[2] })
  await on(ids.off).post('/power', { action: 'stop' })
  await on(ids.rescued).post('/rescue', { enabled: true })
  await on(ids.grown).post('/change-plan', { target_plan: 'micro', confirm: 'grown' })
  await on(ids.again).post('/reinstall', { os_id: 2, confirm: 'DELETE' })
  await on(ids.restored).post('/reinstall', { os_id: 2, confirm: 'DELETE' })
  await on(ids.gone).post('/cancel', { mode: 'immediate', confirm: 'gone' })
  await service.reconcile()

  // These are in the middle of something: their guests do not answer, or nothing was done yet.
  const [kept] = await busy.get(`/services/${ids.restored}/snapshots`)
  await on(ids.restored).post(`/snapshots/${kept.id}/restore`)
  service.guests.silence(ids.renamed, true)
  service.guests.silence(ids.locked, true)
  await on(ids.renamed).post('/hostname', { hostname: 'new-name' })
  await on(ids.locked).post('/reset-password', { confirm: 'locked' })
  await order(busy, { hostname: 'slow-boot' })
  const awaiting = { product: 'nano', os_id: 1, hostname: 'awaiting' }
  expect((await service.ask('POST', '/orders', { token: friend.token, body: awaiting })).status).toBe(402)
  await busy.send('POST', '/balance/topup', { amount: 10 })
  await busy.send('POST', '/tokens', { name: 'agent', scopes: ['read', 'order'] })
  await busy.send('POST', '/tickets', { subject: 'It works', body: 'Thank you', service_id: ids.web })
  await busy.send('POST', '/sandboxes', { template: 'base' })
  await service.reconcileSandboxes()
  return service
}

export type Customer = Awaited<ReturnType<typeof logIn>>

/** A session of an account that is there, by a code that is sent to its address. */
export async function logIn(service: TestService, email: string) {
  await service.ask('POST', '/auth/otp/request', { body: { email } })
  for (let sent = -1; sent < service.mails.length; ) {
    sent = service.mails.length
    await sendQueuedMail(service.services)
  }
  const mail = service.mails.findLast(({ to, text }) => to === email && CODE.test(text))!
  const [code] = CODE.exec(mail.text)!
  const { body } = await service.ask('POST', '/auth/otp/verify', { body: { email, code } })
  const { token, account } = body
  const send = async (method: 'GET' | 'POST' | 'PUT', path: string, sent?: object) => {
    const reply = await service.ask(method, path, { token, ...(sent && { body: sent }) })
    expect(reply.status, `${method} ${path}: ${JSON.stringify(reply.body)}`).toBeLessThan(300)
    return reply.body
  }
  return { token, accountId: account.id as string, send, get: (path: string) => send('GET', path) }
}

const order = async (customer: Customer, body: object): Promise<string> =>
  (await customer.send('POST', '/orders', { product: 'nano', os_id: 1, ...body })).service_id

/** Everything that customers see of what is theirs, by path. */
export async function seenBy(get: (path: string) => Promise<unknown>): Promise<Record<string, unknown>> {
  const paths = [
    '/balance',
    '/balance/statement',
    '/orders/list',
    '/invoices',
    '/tickets',
    '/sandboxes',
    '/delegations',
  ]
  const live = (await get('/services')) as { id: string }[]
  const deleted = (await get('/services?status=deleted')) as { id: string }[]
  for (const { id } of [...live, ...deleted])
    for (const part of ['', '/snapshots', '/ports', '/firewall', '/upgrade-options'])
      paths.push(`/services/${id}${part}${part === '' ? '?reveal=false' : ''}`)
  const seen: Record<string, unknown> = { '/services': live, '/services?status=deleted': deleted }
  for (const path of paths) seen[path] = await get(path)
  return seen
}
