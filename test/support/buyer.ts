import { randomBytes } from 'node:crypto'
import { formatUsd, UsdInput } from '@coinrack/contract/wire.ts'
import { expect } from 'vitest'
import type { MeasuredAnswer, MeasuredClient } from './measured-client.ts'

/** The things that all buyers have in common. */
export interface Market {
  client: MeasuredClient
  /** Origins of the replicas. */
  origins: string[]
  /** A number from 0 to below the limit. */
  pick(limit: number): number
  /** Puts micro-dollars on a balance, as an operator does. */
  credit(accountId: string, amount: bigint): Promise<void>
}

/** A customer that does one thing after the other, and knows what each has to cost. */
export interface Buyer {
  /** Something at random. Fails when an answer is not what it has to be. */
  act(): Promise<void>
  /** Identifiers of all orders that were answered with success. */
  orders: ReadonlySet<string>
  /** The amount that has to be there to spend, in micro-dollars. */
  balance(): bigint
  /** Reads the balance on every replica. */
  checkBalance(): Promise<void>
}

const NANO = 3_000_000n
const MOST_SERVICES = 5
const GIFT = 20_000_000n

/** Registers a buyer on one of the replicas, with some money. */
export async function createBuyer(market: Market, number: number): Promise<Buyer> {
  const { client, origins, pick, credit } = market
  const any = () => origins[pick(origins.length)]!
  /** Another one than that, where there is one. */
  const besides = (origin: string) => origins.find((each) => each !== origin) ?? origin

  const email = `buyer-${number}-${randomBytes(4).toString('hex')}@rackmail.net`
  const registered = await client.ask(any(), 'POST', '/auth/register', { body: { email } })
  expectStatus(registered, 200)
  const { token, account } = registered.body as { token: string; account: { id: string } }
  let available = 0n
  const services: { id: string; hostname: string }[] = []
  const orders = new Set<string>()
  let named = 0

  async function give(): Promise<void> {
    await credit(account.id, GIFT)
    available += GIFT
  }
  const read = async (path: string) => {
    const answer = await client.ask(any(), 'GET', path, { token })
    expectStatus(answer, 200)
    return answer.body
  }
  const write = (path: string, body: object, options: { method?: string; key?: string; at?: string } = {}) =>
    client.ask(options.at ?? any(), options.method ?? 'POST', path, {
      token,
      body,
      key: options.key ?? randomBytes(8).toString('hex'),
    })
  const oneOfMine = () => services[pick(services.length)]

  async function checkBalance(): Promise<void> {
    for (const origin of origins) {
      const { body } = await client.ask(origin, 'GET', '/balance', { token })
      expect({ account: account.id, balance: body.balance }).toEqual({
        account: account.id,
        balance: formatUsd(available),
      })
    }
  }

  function keepOrder(body: MeasuredAnswer['body'], cost: bigint): void {
    expect(orders.has(body.id)).toBe(false)
    orders.add(body.id)
    services.push({ id: body.service_id, hostname: body.service.hostname })
    available -= cost
  }

  /** Now and then the same call reaches two replicas at the same moment. */
  async function order(): Promise<void> {
    if (services.length >= MOST_SERVICES) return cancel()
    const key = randomBytes(8).toString('hex')
    const wanted = {
      product: 'nano',
      os_id: 1,
      hostname: `b${number}-${named++}`,
      create_invoice: pick(4) === 0,
    }
    const first = any()
    const ats = pick(3) === 0 ? [first, besides(first)] : [first]
    const answers = await Promise.all(ats.map((at) => write('/orders', wanted, { key, at })))
    const paid = answers.filter(({ status }) => status === 200)
    if (paid.length === 0) {
      for (const answer of answers) expectStatus(answer, 402, 409)
      expect(available).toBeLessThan(NANO)
      return give()
    }
    expect(available).toBeGreaterThanOrEqual(NANO)
    expect(new Set(paid.map(({ body }) => body.id)).size).toBe(1)
    for (const answer of answers) expectStatus(answer, 200, 409)
    if (paid.length === 2)
      expect(paid.filter(({ headers }) => headers['idempotent-replayed'] === 'true')).toHaveLength(1)
    keepOrder(paid[0]!.body, NANO)
  }

  async function cancel(): Promise<void> {
    const service = services.splice(pick(services.length), 1)[0]
    if (!service) return
    const body = { mode: 'immediate', confirm: service.hostname }
    const answer = await write(`/services/${service.id}/cancel`, body)
    expectStatus(answer, 200)
    available += UsdInput.parse(answer.body.credited)
    expect(answer.body.balance).toBe(formatUsd(available))
  }

  /** Places two orders at the same moment on two replicas: one of them is within the budget. */
  async function orderWithinBudget(): Promise<void> {
    if (services.length >= MOST_SERVICES) return cancel()
    if (available < NANO * 2n) return give()
    const child = await write('/tokens', { name: 'budgeted', scopes: ['order'], budget: { total: '5.00' } })
    expectStatus(child, 200)
    const first = any()
    const answers = await Promise.all(
      [first, besides(first)].map((at) =>
        client.ask(at, 'POST', '/orders', {
          token: child.body.token,
          body: { product: 'nano', os_id: 1, hostname: `b${number}-${named++}` },
        }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403])
    keepOrder(answers.find(({ status }) => status === 200)!.body, NANO)
    await revoke(child.body)
  }

  /** A token that is revoked on one replica is refused by the next request on every other. */
  async function revoke(child: { token: string; details: { id: string } }): Promise<void> {
    const at = any()
    expectStatus(await write(`/tokens/${child.details.id}`, {}, { method: 'DELETE', at }), 200)
    for (const origin of [besides(at), at])
      expectStatus(await client.ask(origin, 'GET', '/account', { token: child.token }), 401)
  }

  async function useToken(): Promise<void> {
    const child = await write('/tokens', { name: 'reader', scopes: ['read'] })
    expectStatus(child, 200)
    for (const origin of origins)
      expectStatus(await client.ask(origin, 'GET', '/account', { token: child.body.token }), 200)
    await revoke(child.body)
  }

  async function change(): Promise<void> {
    const service = oneOfMine()
    if (!service) return order()
    if (pick(2) === 0) {
      const hostname = `b${number}-${named++}`
      const answer = await write(`/services/${service.id}/hostname`, { hostname })
      expectStatus(answer, 200, 409)
      if (answer.status === 200) service.hostname = hostname
      return
    }
    const action = ['start', 'stop', 'reboot'][pick(3)]!
    expectStatus(await write(`/services/${service.id}/power`, { action }), 200, 409)
  }

  async function topUp(): Promise<void> {
    const answer = await write('/balance/topup', { amount: 10 })
    expectStatus(answer, 200, 409)
    const { id } = answer.body.invoice
    expectStatus(await write(`/invoices/${id}/cancel`, {}), 200)
  }

  const reads = [
    () => checkBalance(),
    () => read('/services'),
    () => read('/orders/list?limit=10'),
    () => read('/balance/transactions?limit=10'),
    () => read('/account'),
    () => {
      const service = oneOfMine()
      return service ? read(`/services/${service.id}?reveal=false`) : read('/products')
    },
  ]
  const writes = [order, order, order, cancel, cancel, orderWithinBudget, useToken, change, change, topUp]

  await give()
  return {
    orders,
    balance: () => available,
    checkBalance,
    async act() {
      const ways: (() => Promise<unknown>)[] = pick(10) < 6 ? reads : writes
      await ways[pick(ways.length)]!()
    },
  }
}

function expectStatus({ status, body }: MeasuredAnswer, ...wanted: number[]): void {
  expect(wanted, `${status}: ${JSON.stringify(body)}`).toContain(status)
}
