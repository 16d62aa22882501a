import { verifyReceipt } from '@coinrack/sdk/verify-receipt.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buyerOf, DAY_MS, goTo } from '../vps/billing/testing.ts'
import { type PayableService, startPayableService } from '../vps/billing/testing-payments.ts'

let service: PayableService
beforeAll(async () => {
  service = await startPayableService({ COINRACK_RATE_REGISTER: '1000/min' })
})
afterAll(() => service.close())

const now = () => service.clock.now().toISOString()
const receipt = (token: string, id: string, headers: Record<string, string> = {}) =>
  service.ask('GET', `/invoices/${id}/receipt`, { token, headers })
const jwk = async () => (await service.app.inject('/.well-known/jwks.json')).json().keys[0]

async function topUp(amount: number) {
  const buyer = await buyerOf(service, 0n)
  const { invoice } = (await buyer.post('/balance/topup', { amount })).body
  const pay = (dollars: number) =>
    service.arrive(invoice.payment_options[0].address, BigInt(dollars) * 1_000_000n)
  return { ...buyer, id: invoice.id as string, pay }
}

test('default: of a top-up, with what arrived, signed with the key that is published', async () => {
  const buyer = await topUp(5)
  await buyer.pay(2)
  expect(await receipt(buyer.token, buyer.id)).toMatchObject({
    status: 409,
    body: { code: 'receipt_not_ready' },
  })
  service.clock.advance(1)
  await buyer.pay(4)
  const { status, body } = await receipt(buyer.token, buyer.id)
  expect(status).toBe(200)
  expect(body.receipt).toMatchObject({
    issuer: service.services.config.publicUrl,
    invoice_id: buyer.id,
    account_id: buyer.accountId,
    kind: 'topup',
    amount: '5.00',
    paid_at: now(),
    charges: [],
    payments: [
      { network: 'base', token: 'USDC', amount: '2.00' },
      { network: 'base', token: 'USDC', amount: '4.00' },
    ],
  })
  const { x, kid } = await jwk()
  expect((await verifyReceipt(JSON.stringify(body), x)).signature.key_id).toBe(kid)
  const asTool = await service.tool('get_receipt', { invoice_id: buyer.id }, { token: buyer.token })
  await verifyReceipt(JSON.stringify(asTool.body), x)
})

test('default: of an order once it was charged, not while its money is held, nor when it was given back', async () => {
  const buyer = await buyerOf(service, 0n)
  const place = async (hostname: string) => {
    const { invoice } = (await buyer.post('/orders', { product: 'nano', os_id: 1, hostname })).body
    await service.arrive(invoice.payment_options[0].address, 3_000_000n)
    return invoice.id as string
  }
  const id = await place('web')
  expect((await receipt(buyer.token, id)).status).toBe(409)
  service.clock.advance(1000)
  await service.reconcile()
  expect((await receipt(buyer.token, id)).body.receipt).toMatchObject({
    kind: 'order',
    amount: '3.00',
    charges: [{ description: 'web (nano), one month', amount: '3.00', charged_at: now() }],
    payments: [{ amount: '3.00' }],
  })
  const failed = await place('no-space-here')
  await service.reconcile()
  service.clock.advance(3_600_000)
  await service.reconcile()
  expect(await receipt(buyer.token, failed)).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining('never was') },
  })
})

test('default: of a renewal, paid on chain or from the balance', async () => {
  const buyer = await buyerOf(service, 3_000_000n)
  const vps = await buyer.order()
  const first = (await buyer.renew(vps)).body.invoice
  await service.arrive(first.payment_options[0].address, 3_000_000n)
  expect((await receipt(buyer.token, first.id)).body.receipt).toMatchObject({
    kind: 'renewal',
    charges: [{ amount: '3.00' }],
    payments: [{ amount: '3.00' }],
  })
  service.clock.advance(1)
  const second = (await buyer.renew(vps)).body.invoice
  await buyer.credit(3_000_000n)
  await goTo(service, new Date(Date.parse((await buyer.vps(vps)).billing.paid_until) - DAY_MS))
  await buyer.post(`/invoices/${second.id}/pay`, { method: 'balance' })
  expect((await receipt(buyer.token, second.id)).body.receipt).toMatchObject({
    charges: [{ amount: '3.00', charged_at: now() }],
    payments: [],
  })
})

test('error: a payment that its chain took back has none', async () => {
  const buyer = await topUp(5)
  await buyer.pay(5)
  expect((await receipt(buyer.token, buyer.id)).status).toBe(200)
  await service.takeBack()
  expect(await receipt(buyer.token, buyer.id)).toMatchObject({
    status: 409,
    body: { message: 'A payment of this invoice was taken back by its chain' },
  })
})

test('default: to whoever accepts HTML it is a page to print, which is whole; a refusal stays JSON', async () => {
  const buyer = await topUp(5)
  const html = { accept: 'text/html,application/xhtml+xml' }
  expect((await receipt(buyer.token, buyer.id, html)).body).toMatchObject({ code: 'receipt_not_ready' })
  await buyer.pay(5)
  await service.services.db.query(`update account set first_name = '<b>' where id = $1`, [buyer.accountId])
  const { status, body, headers } = await receipt(buyer.token, buyer.id, html)
  expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
  expect(headers['cache-control']).toBe('no-store')
  for (const part of ['@media print', '5.00 USD', buyer.id, '&lt;b&gt;', (await jwk()).kid]) {
    expect(body).toContain(part)
  }
  expect(body).not.toMatch(/<script|<b>|src=/)
  expect((await receipt('', buyer.id, html)).status).toBe(401)
  const stranger = await service.customer()
  expect((await receipt(stranger.token, buyer.id, html)).status).toBe(403)
})
