import { afterAll, beforeAll, expect, test } from 'vitest'
import { runOperator } from '../operator/run-operator.ts'
import { testOperator } from '../operator/testing.ts'
import { sendQueuedMail } from '../platform/queue-mail.ts'
import { startTestService, type TestService } from '../process/testing.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ env: { COINRACK_RATE_REGISTER: '1000/min' } })
})
afterAll(() => service.close())

const operator = (...words: string[]) => runOperator(testOperator(service.services), words)
async function opened() {
  const { token, accountId } = await service.customer()
  const ask = (method: 'GET' | 'POST', path: string, body?: object) =>
    service.ask(method, path, { token, ...(body && { body }) })
  const { body } = await ask('POST', '/tickets', { subject: 'Help', body: 'It is slow' })
  return { ask, accountId, token, id: body.id as string, body }
}

test('default: a question, a reply by event and mail, an answer, and the end with a rating', async () => {
  const { ask, body, id } = await opened()
  expect(body).toMatchObject({
    status: 'open',
    subject: 'Help',
    service_id: null,
    rating: null,
    messages: [{ author: 'customer', body: 'It is slow' }],
  })
  expect(JSON.parse((await operator('ticket', 'list', '--json')).stdout)).toMatchObject([{ id }])
  expect(await operator('ticket', 'reply', id, 'Try again')).toMatchObject({ exitCode: 0 })
  expect((await ask('GET', `/tickets/${id}`)).body).toMatchObject({
    status: 'answered',
    messages: [{ author: 'customer' }, { author: 'operator', body: 'Try again' }],
  })
  expect((await ask('GET', '/events')).body).toMatchObject([
    { type: 'ticket.replied', data: { ticket_id: id, subject: 'Help' } },
  ])
  service.mails.length = 0
  await sendQueuedMail(service.services)
  const { email } = (await ask('GET', '/account')).body
  expect(service.mails).toMatchObject([{ to: email, subject: `Re: Help [${id}]` }])
  expect(service.mails[0]!.text).toContain('Try again')

  expect((await ask('POST', `/tickets/${id}/replies`, { body: 'Now it is fine' })).body.status).toBe('open')
  const closed = await ask('POST', `/tickets/${id}/close`, { rating: 4 })
  expect(closed.body).toMatchObject({ status: 'closed', rating: 4 })
  expect((await ask('GET', '/tickets?status=open')).body).toEqual([])
  expect((await ask('GET', '/tickets')).body).toMatchObject([{ id, status: 'closed' }])
})

test('behavior: the operator closes, once; who writes again opens it', async () => {
  const { ask, id } = await opened()
  for (let n = 0; n < 2; n++) expect((await operator('ticket', 'close', id)).exitCode).toBe(0)
  expect((await ask('GET', '/events')).body.map(({ type }: { type: string }) => type)).toEqual([
    'ticket.closed',
  ])
  expect((await ask('POST', `/tickets/${id}/replies`, { body: 'Not yet' })).body.status).toBe('open')
})

test('behavior: pages, newest first', async () => {
  const { ask } = await opened()
  service.clock.advance(1)
  await ask('POST', '/tickets', { subject: 'Two', body: 'b' })
  const first = await ask('GET', '/tickets?limit=1')
  expect(first.body.map(({ subject }: { subject: string }) => subject)).toEqual(['Two'])
  const next = /<([^>]+)>/.exec(String(first.headers.link))![1]!.replace('/api/v1/eqvps', '')
  expect((await ask('GET', next)).body.map(({ subject }: { subject: string }) => subject)).toEqual(['Help'])
})

test("error: another's service, a ticket that is not there, no text", async () => {
  const { ask } = await opened()
  const rich = await service.customer(10_000_000n)
  const { body: order } = await service.ask('POST', '/orders', {
    token: rich.token,
    body: { product: 'nano', os_id: 1 },
  })
  const about = { subject: 'a', body: 'b', service_id: order.service_id }
  expect((await ask('POST', '/tickets', about)).body.code).toBe('not_found')
  const own = await service.ask('POST', '/tickets', { token: rich.token, body: about })
  expect(own.body.service_id).toBe(order.service_id)
  expect(await operator('ticket', 'reply', 'tkt_0', 'x')).toMatchObject({ exitCode: 1 })
  expect(await operator('ticket', 'list', '--status', 'lost')).toMatchObject({ exitCode: 1 })
  expect((await ask('POST', '/tickets', { subject: 'a', body: ' ' })).status).toBe(422)
})

test('error: ten open tickets at most, also when asked for at once, and fifty messages a day', async () => {
  const { ask, id } = await opened()
  const make = () => ask('POST', '/tickets', { subject: 'a', body: 'b' })
  const codes = (await Promise.all(Array.from({ length: 12 }, make))).map(({ body }) => body.code)
  expect(codes.filter((code) => code === 'ticket_limit')).toHaveLength(3)
  for (let n = 10; n < 50; n++)
    expect((await ask('POST', `/tickets/${id}/replies`, { body: 'x' })).status).toBe(200)
  expect((await ask('POST', `/tickets/${id}/replies`, { body: 'x' })).body.code).toBe('ticket_limit')
  service.clock.advance(86_400_000)
  expect((await ask('POST', `/tickets/${id}/replies`, { body: 'x' })).status).toBe(200)
})
