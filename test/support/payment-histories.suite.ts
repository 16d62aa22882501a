import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Histories, openHistories } from './payments-history.ts'

/**
 * Payments on a real node, seen through endpoints that fail and lie, with reorganisations inside and between looks and a
 * service that is killed: afterwards every customer has what the final chain says. Ten histories in a row are of every
 * class of lie.
 */
export function testPaymentHistories(count: number): void {
  const seed = Number(process.env.COINRACK_TEST_SEED ?? Math.floor(Math.random() * 1_000_000))
  let histories: Histories

  beforeAll(async () => {
    console.log(`COINRACK_TEST_SEED=${seed}`)
    histories = await openHistories()
  })
  afterAll(() => histories?.close())

  test.each(Array.from({ length: count }, (_, index) => seed + index))(
    'behavior: history %i ends with what the chain says',
    async (own) => {
      expect(await histories.run(own)).toEqual({
        paid: expect.any(BigInt),
        deposits: expect.any(Number),
      })
    },
    180_000,
  )
}
