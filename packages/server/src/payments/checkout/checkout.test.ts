import { freePort } from '@coinrack/host/free-port.ts'
import { encodeFunctionData, erc20Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DemoChains } from '../../chain/demo-chains.ts'
import { startTestChains } from '../../chain/testing.ts'
import { viemChain } from '../../chain/viem-chain.ts'
import type { Services } from '../../platform/services.ts'
import { createApp } from '../../process/app.ts'
import { createMetrics } from '../../process/metrics.ts'
import { createReadiness } from '../../process/readiness.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { depositWatcher } from '../watch-deposits.ts'

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

const createAppOn = (services: Services) => createApp(services, createReadiness(services), createMetrics([]))

const get = (path: string) => service.app.inject({ url: path })

const payFromFaucet = (path: string, choice: Record<string, string>, headers: Record<string, string> = {}) =>
  service.app.inject({
    method: 'POST',
    url: `${path}/demo-pay`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(choice).toString(),
  })

describe('the page', () => {
  test('default: amount, address and one code of the way to pay that was chosen', async () => {
    const { path, invoice } = await topup()
    for (const option of invoice.payment_options) {
      const { network, token, amount, address } = option
      const page = await get(`${path}?network=${network}&token=${token}`)
      expect(page.statusCode).toBe(200)
      expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
      expect(page.body).toContain(`data-network="${network}" data-token="${token}"`)
      expect(page.body).toContain(option.uri.replaceAll('&', '&amp;'))
      expect(page.body).toContain(`data-copy="${address}"`)
      expect(page.body).toContain(`data-copy="${amount}"`)
      expect(page.body.match(/<svg class="qr"/g)).toHaveLength(1)
      expect(page.body).toContain(`QR code of the address ${address}`)
      expect(page.body).toContain('Waiting for your payment')
    }
  })

  test('behavior: the code of the whole transfer takes the place of that of the address', async () => {
    const { path, invoice } = await topup()
    const { body } = await get(`${path}?network=polygon&token=USDC&code=transfer`)
    expect(body.match(/<svg class="qr"/g)).toHaveLength(1)
    expect(body).toContain(`QR code of a transfer of ${invoice.amount} USDC on Polygon`)
    expect(body).toContain('data-code="transfer"')
  })

  test('behavior: how to pay is had alone, as the page shows it', async () => {
    const { path } = await topup()
    const query = '?network=ethereum&token=PYUSD'
    const panel = await get(`${path}/panel${query}`)
    expect(panel.statusCode).toBe(200)
    expect(panel.headers['cache-control']).toBe('no-store')
    expect(panel.body).toMatch(/^<section class="card pay"/)
    expect((await get(path + query)).body).toContain(panel.body)
  })

  test('behavior: page, panel and changes are small', async () => {
    const { path } = await topup({ amount: 10_000 })
    const sizes = async (urls: string[]) =>
      Promise.all(urls.map(async (url) => Buffer.byteLength((await get(url)).body)))
    const [page, panel, transfer, parts] = await sizes([
      path,
      `${path}/panel?network=base&token=USDC`,
      `${path}/panel?network=base&token=USDC&code=transfer`,
      `${path}/parts`,
    ])
    expect(page).toBeLessThan(14_000)
    expect(panel).toBeLessThan(8_000)
    expect(transfer).toBeLessThan(13_000)
    expect(parts).toBeLessThan(3_000)
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
    expect(names).toHaveLength(4)
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
    expect(body).toContain('data-network="polygon" data-token="USDT"')
    expect((await get(`${path}?network=%22%3E&token=x`)).body).toContain('id="network-base" checked')
  })

  test('behavior: of an invoice for one network and token, only that', async () => {
    const { path } = await topup({ amount: 3, network: 'ethereum', token: 'PYUSD' })
    const { body } = await get(path)
    expect(body.match(/type="radio"/g)).toHaveLength(2)
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

describe('what a wallet is asked for', () => {
  test('default: the transfer of what is to be paid, on a network that it can add', async () => {
    const { path, invoice } = await topup()
    const option = invoice.payment_options.find((one: { network: string }) => one.network === 'polygon')
    const answer = await get(`${path}/wallet?network=polygon&token=${option.token}`)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.json()).toEqual({
      token: option.token,
      amount: '10000000',
      chain: {
        chainId: '0x89',
        chainName: 'Polygon (local demo)',
        nativeCurrency: { name: 'POL', symbol: 'POL', decimals: 18 },
        rpcUrls: demo.chains.find(({ network }) => network === 'polygon')!.rpcUrls,
      },
      transaction: {
        to: option.token_address,
        data: encodeFunctionData({
          abi: erc20Abi,
          functionName: 'transfer',
          args: [option.address, 10_000_000n],
        }),
      },
      gasless: null,
    })
  })

  test.each(['', '?network=base', '?network=solana&token=USDC'])(
    'error: %j is no way to pay',
    async (query) => {
      const { path } = await topup()
      const answer = await get(`${path}/wallet${query}`)
      expect(answer.statusCode).toBe(422)
      expect(answer.json().code).toBe('payment_method_unavailable')
    },
  )

  test('error: a closed invoice', async () => {
    const { path, token, invoice } = await topup()
    await service.ask('POST', `/invoices/${invoice.id}/cancel`, { token, body: {} })
    expect((await get(`${path}/wallet?network=base&token=USDC`)).statusCode).toBe(422)
    expect((await get(`${path}/panel?network=base&token=USDC`)).body).toBe('')
  })
})

describe('where transactions are looked up', () => {
  test('behavior: at the explorer of the network, and nowhere for local chains', async () => {
    const { path, invoice } = await topup()
    const choice = { network: 'polygon', token: 'USDC' }
    const { tx_hash } = (await payFromFaucet(path, choice, { accept: 'application/json' })).json()
    await look()
    expect((await get(path)).body).not.toContain('polygonscan')

    const chains = service.services.chains.map((chain) => ({
      ...chain,
      settings: { ...chain.settings, demo: false },
    }))
    const app = createAppOn({ ...service.services, chains, demo: undefined })
    const { body } = await app.inject({ url: path })
    expect(body).toContain(
      `<a href="https://polygonscan.com/tx/${tx_hash}" target="_blank" rel="noopener noreferrer">`,
    )
    const open = await topup()
    const { token_address } = open.invoice.payment_options[0]
    expect((await app.inject({ url: open.path })).body).toContain(
      `href="https://basescan.org/token/${token_address}"`,
    )
    await app.close()
    expect(invoice.id).not.toBe(open.invoice.id)
  })
})

describe('the receipt', () => {
  const paid = async () => {
    const { path, token, invoice } = await topup({ amount: 3 })
    const choice = { network: 'base', token: 'USDC' }
    const { tx_hash } = (await payFromFaucet(path, choice, { accept: 'application/json' })).json()
    for (let round = 0; round < 8; round++) await look()
    return { path, token, invoice, tx_hash }
  }

  test('default: what was paid, how, and not whose account it is', async () => {
    const { path, token, invoice, tx_hash } = await paid()
    expect((await get(path)).body).toContain(`href="${path}/receipt"`)
    const { statusCode, headers, body } = await get(`${path}/receipt`)
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
    expect(body).toContain(invoice.id)
    expect(body).toContain('3.00 USD')
    expect(body).toContain(tx_hash)
    const account = (await service.ask('GET', '/account', { token })).body
    expect(body).not.toContain(account.id)
    expect(body).not.toContain(account.email)
  })

  test('behavior: before it is paid the page itself is shown, and of an unknown secret nothing', async () => {
    const { path } = await topup()
    const answer = await get(`${path}/receipt`)
    expect([answer.statusCode, answer.headers.location]).toEqual([303, path])
    expect((await get(`/checkout/${'0'.repeat(32)}/receipt`)).statusCode).toBe(404)
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

  test.each(['.json', '/events', '/panel', '/parts', '/wallet'])(
    'error: %s answers the error body',
    async (ending) => {
      const answer = await get(`/checkout/${'0'.repeat(32)}${ending}`)
      expect(answer.statusCode).toBe(404)
      expect(answer.json()).toMatchObject({ code: 'not_found', request_id: expect.any(String) })
    },
  )

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
  /** Reads the stream to its end and returns its events. */
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

  test('behavior: as parts of the page, first all and then those that changed, in few bytes', async () => {
    const { path } = await topup()
    const reading = readEvents(await fetch(`${origin}${path}/events?as=parts`))
    await payFromFaucet(path, { network: 'base', token: 'USDC' })
    for (let round = 0; round < 8; round++) {
      await look()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const events = await reading
    expect(events.at(-1)!.name).toBe('end')
    const told = events.slice(0, -1).map(({ data }) => data)
    expect(Object.keys(told[0].parts)).toEqual(['expiry', 'status', 'next', 'payments', 'questions'])
    expect(told[0]).toEqual({ ...(await get(`${path}/parts`)).json(), due: '10.00', parts: told[0].parts })
    expect(told.slice(1).every(({ due }) => due === '')).toBe(true)
    const confirming = told.slice(2, -1)
    expect(confirming.length).toBeGreaterThan(0)
    for (const { parts } of confirming) expect(Object.keys(parts)).toEqual(['status', 'payments'])
    expect(told.at(-1).parts.status).toContain('Paid. Thank you!')
    const sizes = told.slice(1).map((data) => Buffer.byteLength(JSON.stringify(data)))
    expect(Math.max(...sizes)).toBeLessThan(2_500)
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
