import { freePort } from '@coinrack/host/free-port.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DemoChains } from '../chain/demo-chains.ts'
import { startTestChains } from '../chain/testing.ts'
import { viemChain } from '../chain/viem-chain.ts'
import { depositWatcher } from '../payments/watch-deposits.ts'
import { startTestService, type TestService } from '../testing.ts'

let demo: DemoChains
let service: TestService
let look: () => Promise<void>
let origin: string

beforeAll(async () => {
  demo = await startTestChains()
  const chains = demo.chains.map((settings) => ({ settings, port: viemChain(settings) }))
  service = await startTestService({ chains, demo: demo.demo })
  const watchers = chains.map((chain) => depositWatcher(service.services, chain))
  look = async () => {
    await Promise.all(watchers.map((watch) => watch()))
  }
  origin = await service.app.listen({ host: '127.0.0.1', port: await freePort() })
})
afterAll(async () => {
  await service?.close()
  await demo?.stop()
})

async function topup(body: object = { amount: 10 }) {
  const { token } = await service.customer()
  const answer = await service.ask('POST', '/balance/topup', { token, body })
  const { pathname } = new URL(answer.body.checkout_url)
  return { token, path: pathname, invoice: answer.body.invoice }
}

const get = (path: string) => service.app.inject({ url: path })

const payFromFaucet = (path: string, choice: Record<string, string>, headers: Record<string, string> = {}) =>
  service.app.inject({
    method: 'POST',
    url: `${path}/demo-pay`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(choice).toString(),
  })

describe('the page', () => {
  test('default: amount, address and both codes of every way to pay', async () => {
    const { path, invoice } = await topup()
    const page = await get(path)
    expect(page.statusCode).toBe(200)
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    for (const option of invoice.payment_options) {
      expect(page.body).toContain(`id="pay-${option.network}-${option.token}"`)
      expect(page.body).toContain(option.uri.replaceAll('&', '&amp;'))
      expect(page.body).toContain(`data-copy="${option.address}"`)
    }
    expect(page.body.match(/<svg class="qr"/g)).toHaveLength(2 * invoice.payment_options.length)
    expect(page.body).toContain('Waiting for your payment')
  })

  test('behavior: it is private, runs no foreign or inline code, and is shown in no frame', async () => {
    const { path } = await topup()
    const page = await get(path)
    expect(page.headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
    const policy = String(page.headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(page.body).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|https?:\/\//)
  })

  test('behavior: its files can be kept for ever', async () => {
    const { path } = await topup()
    const names = (await get(path)).body.match(/\/assets\/[\w.-]+/g)!
    expect(names).toHaveLength(2)
    for (const name of names) {
      const asset = await get(name)
      expect(asset.statusCode).toBe(200)
      expect(asset.headers['cache-control']).toContain('immutable')
    }
  })

  test('behavior: the address chooses network and token', async () => {
    const { path } = await topup()
    const { body } = await get(`${path}?network=polygon&token=USDT`)
    expect(body).toContain('id="network-polygon" checked')
    expect(body).toContain('id="token-USDT" checked')
    expect((await get(`${path}?network=%22%3E&token=x`)).body).toContain('id="network-base" checked')
  })

  test('behavior: of an invoice for one network and token, only that', async () => {
    const { path } = await topup({ amount: 3, network: 'ethereum', token: 'PYUSD' })
    const { body } = await get(path)
    expect(body.match(/class="panel"/g)).toHaveLength(1)
    expect(body).toContain('3.00 <span class="unit">PYUSD</span>')
  })

  test('behavior: a cancelled invoice says so and asks for nothing', async () => {
    const { path, token, invoice } = await topup()
    await service.ask('POST', `/invoices/${invoice.id}/cancel`, { token, body: {} })
    const { body } = await get(path)
    expect(body).toContain('This invoice was cancelled')
    expect(body).not.toContain('class="panel"')
    expect(body).not.toContain('http-equiv="refresh"')
  })
})

describe('the same as JSON', () => {
  test('default: what the owner sees', async () => {
    const { path, token, invoice } = await topup()
    const answer = await get(`${path}.json`)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.json()).toEqual({
      state: 'waiting',
      progress: null,
      invoice: (await service.ask('GET', `/invoices/${invoice.id}`, { token })).body,
    })
  })
})

describe('unknown secrets', () => {
  test('error: a page that says so', async () => {
    const page = await get(`/checkout/${'0'.repeat(32)}`)
    expect(page.statusCode).toBe(404)
    expect(page.body).toContain('There is no such invoice')
  })

  test.each(['', '.json', '/events'])('error: one with the character NUL%s', async (ending) => {
    expect((await get(`/checkout/a%00b${ending}`)).statusCode).toBe(404)
  })

  test.each(['.json', '/events'])('error: %s answers the error body', async (ending) => {
    const answer = await get(`/checkout/${'0'.repeat(32)}${ending}`)
    expect(answer.statusCode).toBe(404)
    expect(answer.json()).toMatchObject({ code: 'not_found', request_id: expect.any(String) })
  })

  test('error: the id of an invoice is not its secret', async () => {
    const { invoice } = await topup()
    expect((await get(`/checkout/${invoice.id}`)).statusCode).toBe(404)
  })
})

describe('paying from the test faucet', () => {
  test('default: a real transfer, whose hash is answered', async () => {
    const { path } = await topup()
    const choice = { network: 'polygon', token: 'USDT' }
    const answer = await payFromFaucet(path, choice, { accept: 'application/json' })
    expect(answer.json()).toEqual({ tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
    await look()
    const { state, invoice } = (await get(`${path}.json`)).json()
    expect(state).toBe('seen')
    expect(invoice.payments).toMatchObject([{ tx_hash: answer.json().tx_hash, amount: '10.00' }])
  })

  test('behavior: a form without a script comes back to the page', async () => {
    const { path } = await topup()
    const answer = await payFromFaucet(path, { network: 'base', token: 'USDC' })
    expect(answer.statusCode).toBe(303)
    expect(answer.headers.location).toBe(path)
  })

  test.each([{}, { network: 'base' }, { network: 'solana', token: 'USDC' }])(
    'error: %j is no way to pay',
    async (choice) => {
      const { path } = await topup()
      const answer = await payFromFaucet(path, choice as Record<string, string>)
      expect(answer.statusCode).toBe(422)
      expect(answer.json().code).toBe('payment_method_unavailable')
    },
  )

  test('error: outside of the demo there is none', async () => {
    const real = await startTestService({ chains: service.services.chains })
    const { token } = await real.customer()
    const { body } = await real.ask('POST', '/balance/topup', { token, body: { amount: 10 } })
    const { pathname } = new URL(body.checkout_url)
    const page = await real.app.inject({ url: pathname })
    expect(page.body).not.toContain('faucet')
    const paid = await real.app.inject({ method: 'POST', url: `${pathname}/demo-pay`, payload: {} })
    expect(paid.statusCode).toBe(404)
    await real.close()
  })
})

describe('events', () => {
  /** Reads the stream to its end and answers its events. */
  async function readEvents(response: Response) {
    const text = await response.text()
    return [...text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(([, name, data]) => ({
      name,
      data: JSON.parse(data!),
    }))
  }

  test('default: each step of a payment as it happens, then the end', async () => {
    const { path } = await topup()
    const response = await fetch(`${origin}${path}/events`)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const reading = readEvents(response)
    await payFromFaucet(path, { network: 'base', token: 'PYUSD' })
    for (let round = 0; round < 8; round++) {
      await look()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const events = await reading
    expect(events.at(-1)!.name).toBe('end')
    const states = events.slice(0, -1).map(({ data }) => data.state)
    expect([...new Set(states)]).toEqual(['waiting', 'seen', 'credited'])
  })

  test('behavior: of a closed invoice one view, and the end', async () => {
    const { path, token, invoice } = await topup()
    await service.ask('POST', `/invoices/${invoice.id}/cancel`, { token, body: {} })
    const events = await readEvents(await fetch(`${origin}${path}/events`))
    expect(events.map(({ name, data }) => data.state ?? name)).toEqual(['cancelled', 'end'])
  })

  test('behavior: five streams of an invoice at a time; the sixth is told when to come back', async () => {
    const { path } = await topup()
    const other = await topup()
    const open = async (at: string) => {
      const end = new AbortController()
      const response = await fetch(`${origin}${at}/events`, { signal: end.signal })
      return { response, end: () => end.abort() }
    }
    const streams = await Promise.all(Array.from({ length: 5 }, () => open(path)))
    expect(streams.map(({ response }) => response.status)).toEqual(Array(5).fill(200))
    const { response } = await open(path)
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '15'])
    expect((await response.json()).code).toBe('rate_limited')
    const elsewhere = await open(other.path)
    expect(elsewhere.response.status).toBe(200)
    streams[0]!.end()
    let again = 429
    for (let tries = 0; again === 429 && tries < 100; tries++) {
      const next = await open(path)
      again = next.response.status
      streams.push(next)
    }
    expect(again).toBe(200)
    for (const stream of [...streams, elsewhere]) stream.end()
  })

  test('behavior: a service that ends closes its streams, without saying that it is over', async () => {
    const ending = await startTestService({ chains: service.services.chains })
    const at = await ending.app.listen({ host: '127.0.0.1', port: await freePort() })
    const { token } = await ending.customer()
    const { body } = await ending.ask('POST', '/balance/topup', { token, body: { amount: 10 } })
    const reading = readEvents(await fetch(`${at}${new URL(body.checkout_url).pathname}/events`))
    const started = performance.now()
    await ending.close()
    expect((await reading).map(({ name }) => name)).toEqual(['view'])
    expect(performance.now() - started).toBeLessThan(3_000)
  })
})
