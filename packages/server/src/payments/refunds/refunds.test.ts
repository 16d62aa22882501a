import { randomBytes } from 'node:crypto'
import { encodeFunctionData, type Hex, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DemoChains } from '../../chain/demo-chains.ts'
import { deterministicDeployer } from '../../chain/deterministic-deployer.ts'
import { TestUSDC, TestUSDT } from '../../chain/generated/contracts.ts'
import { minedReceipt } from '../../chain/mined-receipt.ts'
import { startTestChains, testWallet } from '../../chain/testing.ts'
import { runOperator } from '../../operator/run-operator.ts'
import { testOperator } from '../../operator/testing.ts'
import { sendQueuedMail } from '../../platform/queue-mail.ts'
import { type PaymentsWorld, paymentsWorld, usd } from '../testing.ts'

const DAY_MS = 86_400_000
let demo: DemoChains
let world: PaymentsWorld
let email: string
let token: string
let accountId: string
let mine: ReturnType<typeof privateKeyToAccount>
let made = 0

beforeAll(async () => {
  demo = await startTestChains()
  world = await paymentsWorld(demo.chains, {
    COINRACK_RATE_LOGIN: '1000/min',
    COINRACK_RATE_TOPUPS: '1000/min',
  })
})
afterAll(async () => {
  await world?.close()
  await demo?.stop()
})

const chainOf = (network: string) => demo.chains.find((chain) => chain.network === network)!
const walletOn = (network: string) => testWallet(chainOf(network), demo.demo.faucet_key)
const tokenOf = (network: string, symbol: string) =>
  chainOf(network).tokens.find((known) => known.symbol === symbol)!.address

async function logIn(): Promise<void> {
  await world.ask('POST', '/auth/otp/request', { body: { email } })
  const [code] = /\b\d{6}\b/.exec(world.mails.at(-1)!.text)!
  const { body } = await world.ask('POST', '/auth/otp/verify', { body: { email, code } })
  ;({ token } = body)
  accountId = body.account.id
}
/** Pays in money and waits until it is final on its chain. */
async function payIn(network: string, symbol: 'USDC' | 'USDT' | 'PYUSD', amount: number): Promise<void> {
  const { body } = await ask('POST', '/balance/topup', { amount })
  const { address } = body.invoice.payment_options[0]
  await walletOn(network).pay(symbol, address, usd(amount))
  await finish(network)
}
async function finish(network: string): Promise<void> {
  await world.settle()
  await walletOn(network).client.request({ method: 'anvil_mine' as never, params: ['0x60'] as never })
  await world.settle()
}
const ask = (method: 'GET' | 'POST', path: string, body?: object) =>
  world.ask(method, path, { token, ...(body && { body }) })

interface Wanted {
  amount: number
  network: string
  token: string
  address: string
}
const wanted = (change: Partial<Wanted> = {}): Wanted => ({
  amount: 4,
  network: 'base',
  token: 'USDC',
  address: mine.address,
  ...change,
})
async function signed(want: Wanted, by = mine) {
  const { status, body } = await ask('GET', `/refunds/terms?${new URLSearchParams(want as never)}`)
  expect(status, JSON.stringify(body)).toBe(200)
  const signature = await by.signTypedData(body.typed_data)
  return { ...want, expires_at: body.expires_at as string, signature }
}
const request = async (want = wanted(), by = mine) => ask('POST', '/refunds', await signed(want, by))
async function lastMail() {
  await sendQueuedMail(world.services)
  return world.mails.at(-1)!
}
const operate = (...words: string[]) =>
  runOperator(testOperator(world.services, { installed: { chains: async () => demo.chains } }), words)
/** The treasury of the demo is an account of its nodes. */
async function payOut(network: string, call: { to: Hex; data: Hex }): Promise<Hex> {
  const { client } = walletOn(network)
  const transaction = { from: chainOf(network).treasury, ...call }
  const hash = await client.request({
    method: 'eth_sendTransaction' as never,
    params: [transaction] as never,
  })
  await minedReceipt(client, hash)
  return hash
}

beforeEach(async () => {
  email = `refund${made++}@rackmail.net`
  mine = privateKeyToAccount(generatePrivateKey())
  await logIn()
})

test('default: asked for, mailed, approved after a day, paid from the treasury, in the books to the cent', async () => {
  await payIn('base', 'USDC', 10)
  await walletOn('base').pay('USDC', chainOf('base').treasury, usd(100))
  await logIn()
  const { status, body } = await request()
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body).toMatchObject({ status: 'requested', amount: '4.00', network: 'base', token: 'USDC' })
  expect((await ask('GET', '/balance')).body).toMatchObject({ balance: '6.00', held: '4.00' })
  const { id } = body
  expect(await lastMail()).toMatchObject({ to: email, text: expect.stringContaining(`cancel_refund ${id}`) })
  const events = (await ask('GET', '/events')).body
  expect(events.at(-1)).toMatchObject({ type: 'refund.requested', data: { refund_id: id, amount: '4.00' } })

  expect(await operate('refund', 'approve', id)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('until'),
  })
  world.clock.advance(DAY_MS)
  expect((await operate('refund', 'list')).stdout).toContain(id)
  const approved = await operate('refund', 'approve', id, '--json')
  expect(approved).toMatchObject({ exitCode: 0 })
  const { to, data } = JSON.parse(approved.stdout)
  expect(JSON.parse((await operate('refund', 'approve', id, '--json')).stdout)).toMatchObject({ to, data })
  expect((await ask('POST', `/refunds/${id}/cancel`)).body).toMatchObject({ code: 'refund_closed' })
  expect(await operate('refund', 'reject', id, '--reason', 'No')).toMatchObject({ exitCode: 1 })

  const hash = await payOut('base', { to, data })
  expect(await walletOn('base').balance('USDC', mine.address)).toBe(usd(4))
  await finish('base')
  expect(await operate('refund', 'sent', id, hash)).toMatchObject({ exitCode: 0, stdout: `${id} is paid` })
  expect(await operate('refund', 'sent', id, hash)).toMatchObject({ exitCode: 1 })
  expect((await ask('GET', `/refunds/${id}`)).body).toMatchObject({ status: 'sent', tx_hash: hash })
  expect((await ask('GET', '/balance')).body).toMatchObject({ balance: '6.00', held: '0.00' })
  expect((await ask('GET', '/balance/transactions')).body[0]).toMatchObject({
    kind: 'payout',
    description: expect.stringContaining(hash),
  })
  await world.expectBooksToBalance()
  expect(JSON.parse((await operate('treasury', 'reconcile', '--json')).stdout).differences).toEqual([])
  // The refunded amount cannot be refunded again.
  await logIn()
  expect((await request(wanted({ amount: 6.01 }))).body).toMatchObject({ code: 'refund_too_much' })
  expect((await request(wanted({ amount: 6 }))).status).toBe(200)
})

describe('who may ask', () => {
  test('error: a login by registration, by password, or by a code of long ago', async () => {
    const other = `other${made}@rackmail.net`
    const { body } = await world.ask('POST', '/auth/register', { body: { email: other } })
    ;({ token } = body)
    expect((await request()).body).toMatchObject({
      code: 'proof_too_old',
      next_steps: [{ tool: 'request_login_code' }],
    })
    await logIn()
    world.clock.advance(600_001)
    expect((await request()).body).toMatchObject({ code: 'proof_too_old' })
  })

  test('error: a child token', async () => {
    const { body } = await ask('POST', '/tokens', { scopes: ['billing', 'read'] })
    token = body.token
    expect((await request()).body).toMatchObject({ code: 'child_token' })
  })
})

describe('what can be refunded', () => {
  test('behavior: not what the operator gave, whatever was spent before', async () => {
    await payIn('base', 'USDC', 10)
    await world.credit(accountId, usd(20))
    await world.post(accountId, [{ from: 'customer.available', to: 'revenue.vps', amount: usd(7) }])
    const { body } = await ask('GET', `/refunds/terms?${new URLSearchParams(wanted() as never)}`)
    expect(body.refundable).toEqual([{ network: 'base', token: 'USDC', amount: '3.00' }])
    const { code, next_steps } = (await request()).body
    expect(code).toBe('refund_too_much')
    const { tool, arguments: input } = next_steps[0]
    const { body: terms } = await world.tool(tool, input, { token })
    const signature = await mine.signTypedData(terms.typed_data)
    expect(
      (await ask('POST', '/refunds', { ...input, expires_at: terms.expires_at, signature })).status,
    ).toBe(200)
  })

  test('behavior: not what its chain can still take back', async () => {
    const { body: topup } = await ask('POST', '/balance/topup', { amount: 10 })
    await walletOn('base').pay('USDC', topup.invoice.payment_options[0].address, usd(10))
    await world.settle()
    await world.services.db.query('update deposit set final = false where account_id = $1', [accountId])
    expect((await request()).body).toMatchObject({ code: 'refund_other_chain' })
  })

  test('error: on another chain, in another token, too little', async () => {
    await payIn('base', 'USDC', 10)
    expect((await request(wanted({ network: 'polygon' }))).body).toMatchObject({ code: 'refund_other_chain' })
    expect((await request(wanted({ token: 'USDT' }))).body).toMatchObject({ code: 'refund_other_chain' })
    expect((await request(wanted({ amount: 0.5 }))).body).toMatchObject({ code: 'invalid_input' })
  })
})

describe('the address', () => {
  beforeEach(() => payIn('base', 'USDC', 10))

  test('error: signed by another key, for other fields, or for too long', async () => {
    const other = privateKeyToAccount(generatePrivateKey())
    expect((await request(wanted(), other)).body).toMatchObject({ code: 'refund_signature_invalid' })
    const good = await signed(wanted())
    const changes = [
      { amount: 5 },
      { address: other.address },
      { expires_at: new Date(world.clock.now().getTime() + 60_000).toISOString() },
      { signature: toHex(randomBytes(65)) },
    ]
    for (const change of changes)
      expect((await ask('POST', '/refunds', { ...good, ...change })).body).toMatchObject({
        code: 'refund_signature_invalid',
      })
    world.clock.advance(30 * 60_000)
    await logIn()
    expect((await ask('POST', '/refunds', good)).body).toMatchObject({ code: 'refund_signature_expired' })
  })

  test('error: of a token, of this service, of a contract', async () => {
    const lost = [tokenOf('base', 'USDC'), world.factory, chainOf('base').treasury]
    const signature = toHex(randomBytes(65))
    for (const address of lost) {
      const { body } = await ask('POST', '/refunds', { ...(await signed(wanted({ address }))), signature })
      expect(body).toMatchObject({ code: 'refund_to_token' })
    }
    const { rows } = await world.services.db.query(
      'select address from deposit_address where account_id = $1',
      [accountId],
    )
    expect((await request(wanted({ address: rows[0].address }))).body).toMatchObject({
      code: 'refund_to_token',
    })
    const address = deterministicDeployer
    expect((await request(wanted({ address }))).body).toMatchObject({ code: 'refund_to_contract' })
    // A contract at an address that also has a signing key, which an attacker can arrange on one chain.
    const { client } = walletOn('base')
    await client.request({ method: 'anvil_setCode' as never, params: [mine.address, '0x6000'] as never })
    expect((await request()).body).toMatchObject({ code: 'refund_to_contract' })
    const delegated = `0xef0100${world.factory.slice(2)}`
    await client.request({ method: 'anvil_setCode' as never, params: [mine.address, delegated] as never })
    expect((await request()).status).toBe(200)
  })

  test('error: blocked by the issuer, by USDC and by USDT, which would pay it all the same', async () => {
    const block = (symbol: 'USDC' | 'USDT', data: Hex) =>
      walletOn('base').send({ to: tokenOf('base', symbol), data })
    await block('USDC', encodeFunctionData({ ...TestUSDC, functionName: 'blacklist', args: [mine.address] }))
    expect((await request()).body).toMatchObject({ code: 'refund_address_blocked' })
    await payIn('base', 'USDT', 10)
    await logIn()
    await block(
      'USDT',
      encodeFunctionData({ ...TestUSDT, functionName: 'addBlackList', args: [mine.address] }),
    )
    expect((await request(wanted({ token: 'USDT' }))).body).toMatchObject({ code: 'refund_address_blocked' })
  })
})

describe('once', () => {
  beforeEach(() => payIn('base', 'USDC', 10))

  test('behavior: one is open at a time, also of twenty at once; a signature is good for one', async () => {
    const same = await signed(wanted())
    const all = await Promise.all(Array.from({ length: 20 }, () => ask('POST', '/refunds', same)))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(all.filter(({ body }) => body.code === 'refund_open')).toHaveLength(19)
    expect((await ask('GET', '/balance')).body).toMatchObject({ balance: '6.00', held: '4.00' })

    const { id } = (await ask('GET', '/refunds')).body[0]
    for (let n = 0; n < 2; n++)
      expect((await ask('POST', `/refunds/${id}/cancel`)).body).toMatchObject({ status: 'cancelled' })
    expect((await ask('GET', '/balance')).body).toMatchObject({ balance: '10.00', held: '0.00' })
    expect((await ask('POST', '/refunds', same)).body).toMatchObject({ code: 'refund_repeated' })
    world.clock.advance(1000)
    expect((await request()).status).toBe(200)
  })

  test('behavior: rejected, the amount is back and the customer reads why', async () => {
    const { id } = (await request()).body
    expect(await operate('refund', 'reject', id, '--reason', 'Send a ticket first')).toMatchObject({
      exitCode: 0,
    })
    expect((await ask('GET', `/refunds/${id}`)).body).toMatchObject({
      status: 'rejected',
      reason: 'Send a ticket first',
    })
    expect((await ask('GET', '/balance')).body).toMatchObject({ balance: '10.00' })
    expect((await lastMail()).text).toContain('Send a ticket first')
    expect(await operate('refund', 'approve', id)).toMatchObject({ exitCode: 1 })
  })

  test('error: a transaction that did not pay it, is not final, or paid another refund', async () => {
    const { id } = (await request()).body
    world.clock.advance(DAY_MS)
    await walletOn('base').pay('USDC', chainOf('base').treasury, usd(100))
    expect(await operate('refund', 'sent', id, `0x${'1'.repeat(64)}`)).toMatchObject({ exitCode: 1 })
    const { to, data } = JSON.parse((await operate('refund', 'approve', id, '--json')).stdout)
    // Sent by another wallet than the treasury.
    const foreign = await walletOn('base').send({ to, data })
    await finish('base')
    expect(await operate('refund', 'sent', id, foreign)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('did not pay exactly'),
    })
    const hash = await payOut('base', { to, data })
    await walletOn('base').client.request({ method: 'anvil_mine' as never, params: ['0x60'] as never })
    expect(await operate('refund', 'sent', id, hash)).toMatchObject({ exitCode: 0 })

    await logIn()
    const { id: next } = (await request()).body
    world.clock.advance(DAY_MS)
    expect(await operate('refund', 'approve', next)).toMatchObject({ exitCode: 0 })
    expect(await operate('refund', 'sent', next, hash)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('has closed another refund'),
    })
  })
})
