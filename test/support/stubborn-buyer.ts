import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatUsd } from '@coinrack/contract/wire.ts'
import { expect } from 'vitest'
import type { MeasuredAnswer, MeasuredClient } from './measured-client.ts'

/** The refusals that clients met while the service could not answer, by code; connections that broke are `no answer`. */
export interface Refusals {
  byCode: Record<string, number>
  /** Moments of refusals, in milliseconds. */
  at: number[]
}

const NANO = 3_000_000n
/** The longest pause before a repetition; clients would wait for `retry_after`. */
const PAUSE_MS = 200
const PATIENCE_MS = 60_000

/** A customer that repeats each call with the same key until it is answered, and knows what was. */
export interface StubbornBuyer {
  accountId: string
  /** Something at random. */
  act(): Promise<void>
  orders: string[]
  invoices: string[]
  /** Balance and orders are what was answered. */
  check(): Promise<void>
}

/**
 * Registers one with some money.
 * @param pick a number from 0 to below the limit
 */
export async function createStubbornBuyer(
  {
    client,
    origin,
    refusals,
    pick,
  }: { client: MeasuredClient; origin: string; refusals: Refusals; pick(limit: number): number },
  credit: (accountId: string, amount: bigint) => Promise<void>,
): Promise<StubbornBuyer> {
  const email = `stubborn-${randomBytes(6).toString('hex')}@rackmail.net`
  const { body: registered } = await client.ask(origin, 'POST', '/auth/register', { body: { email } })
  const { token, account } = registered as { token: string; account: { id: string } }
  let available = 0n
  const orders: string[] = []
  const invoices: string[] = []

  async function answered(method: string, path: string, body?: object): Promise<MeasuredAnswer> {
    const key = randomBytes(8).toString('hex')
    const end = performance.now() + PATIENCE_MS
    for (;;) {
      const answer = await client
        .ask(origin, method, path, { token, ...(body && { body, key }) })
        .catch(() => undefined)
      if (answer && answer.status < 500 && answer.body.code !== 'idempotency_running') return answer
      // A proxy that got no answer says so in its own words.
      const code: string = answer?.body?.code ?? 'no answer'
      if (answer && answer.status >= 500 && answer.body.code) {
        expect(answer.body, 'A refusal says what to do').toMatchObject({
          retry_after: expect.any(Number),
          fix: expect.any(String),
        })
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
      }
      refusals.byCode[code] = (refusals.byCode[code] ?? 0) + 1
      refusals.at.push(performance.now())
      expect(performance.now(), `${method} ${path} is answered ${code} for too long`).toBeLessThan(end)
      await sleep(PAUSE_MS)
    }
  }

  async function order(): Promise<void> {
    if (available < NANO) return give()
    const answer = await answered('POST', '/orders', { product: 'nano', os_id: 1 })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    orders.push(answer.body.id)
    available -= NANO
  }
  async function give(): Promise<void> {
    await credit(account.id, 2n * NANO)
    available += 2n * NANO
  }
  async function topUp(): Promise<void> {
    const answer = await answered('POST', '/balance/topup', { amount: 10 })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    invoices.push(answer.body.invoice.id)
    const cancelled = await answered('POST', `/invoices/${answer.body.invoice.id}/cancel`, {})
    expect(cancelled.status).toBe(200)
  }
  async function readBalance(): Promise<void> {
    const { body } = await answered('GET', '/balance')
    expect(body.balance).toBe(formatUsd(available))
  }
  await give()
  const ways = [order, order, topUp, readBalance, readBalance, () => answered('GET', '/services')]
  return {
    accountId: account.id,
    orders,
    invoices,
    act: async () => void (await ways[pick(ways.length)]!()),
    check: readBalance,
  }
}
