import { afterAll, beforeAll, expect, test } from 'vitest'
import { reviewApprove } from '../operator/review-decide.ts'
import { startTestService, type TestService } from '../process/testing.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

const submit = (token: string, body: object) => service.ask('POST', '/reviews', { token, body })
const listed = async () => (await service.ask('GET', '/reviews')).body
const approve = (id: string) =>
  reviewApprove.run({ db: async () => service.services.db, clock: service.clock } as never, [id], {})

/** A customer with a VPS that was delivered and charged. */
async function buyer(): Promise<string> {
  const { token } = await service.customer(10_000_000n)
  await service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1 } })
  await service.reconcile()
  return token
}

test('default: without any review there is no average', async () => {
  expect(await listed()).toEqual({
    rating: { average: null, count: 0, distribution: { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 } },
    reviews: [],
  })
})

test('default: a review waits for the operator, and is then shown', async () => {
  const { status, body } = await submit(await buyer(), {
    rating: 5,
    title: 'Fast',
    body: 'In seconds.',
    author: 'Ada',
  })
  expect(status).toBe(200)
  expect(body).toEqual({ id: expect.stringMatching(/^rev_/), status: 'pending' })
  expect((await listed()).rating.count).toBe(0)
  await approve(body.id)
  expect(await listed()).toEqual({
    rating: { average: 5, count: 1, distribution: { 1: 0, 2: 0, 3: 0, 4: 0, 5: 1 } },
    reviews: [
      {
        id: body.id,
        author: 'Ada',
        rating: 5,
        title: 'Fast',
        body: 'In seconds.',
        created_at: service.clock.now().toISOString(),
      },
    ],
  })
})

test('behavior: the average is of all that are shown, to two decimals', async () => {
  for (const rating of [4, 2]) {
    service.clock.advance(1000)
    const { body } = await submit(await buyer(), { rating, body: 'So so' })
    await approve(body.id)
  }
  await submit(await buyer(), { rating: 1, body: 'Never approved' })
  const { rating, reviews } = await listed()
  expect(rating).toEqual({ average: 3.67, count: 3, distribution: { 1: 0, 2: 1, 3: 0, 4: 1, 5: 1 } })
  expect(reviews.map(({ author }: { author: string }) => author)).toEqual(['Customer', 'Customer', 'Ada'])
})

test('error: a second one of the same account', async () => {
  const token = await buyer()
  await submit(token, { rating: 5, body: 'First' })
  expect(await submit(token, { rating: 5, body: 'Second' })).toMatchObject({
    status: 409,
    body: { code: 'review_exists' },
  })
})

test('error: of somebody who has paid for nothing, an order in progress included', async () => {
  const { token } = await service.customer(10_000_000n)
  const refused = { status: 409, body: { code: 'review_needs_order' } }
  expect(await submit(token, { rating: 5, body: 'Great' })).toMatchObject(refused)
  await service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1 } })
  expect(await submit(token, { rating: 5, body: 'Great' })).toMatchObject(refused)
})

test.each([0, 6, 4.5, '5'])('error: a rating of %j', async (rating) => {
  const { token } = await service.customer()
  expect(await submit(token, { rating, body: 'x' })).toMatchObject({
    status: 422,
    body: { code: 'invalid_input' },
  })
})
