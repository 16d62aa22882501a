import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ErrorCode, errors } from '@coinrack/contract/errors.ts'
import { makeToken } from '@coinrack/server/account/token.ts'
import { snapshot } from '@coinrack/server/database/testing.ts'
import { type Reply, startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectError } from './support/expect-error.ts'

/*
 * Input that people and programs send by mistake or by malice: each gets the whole error body, and changes nothing.
 */

const generous = Object.fromEntries(
  [
    'DEFAULT',
    'ORDERS',
    'TOPUPS',
    'PASSWORD_RESETS',
    'REINSTALLS',
    'REGISTER',
    'LOGIN',
    'REGISTER_TOTAL',
    'LOGIN_TOTAL',
    'BAD_TOKENS',
  ].map((name) => [`COINRACK_RATE_${name}`, '1000000/min']),
)

let service: TestService
let owner: { token: string; accountId: string }
let stranger: { token: string; accountId: string }
let revoked: string
let expired: string
let vps: string
let invoice: string
/** With real keys. */
let folder: string

beforeAll(async () => {
  service = await startTestService({ env: generous })
  const { services } = service
  services.catalog.plans.push({ ...services.catalog.plans[0]!, slug: 'old-only', images: ['debian-12'] })
  owner = await service.customer(50_000_000n)
  stranger = await service.customer(50_000_000n)
  const [first, second] = [await service.customer(), await service.customer()]
  revoked = first.token
  expired = second.token
  await services.db.query('update token set revoked_at = now() where account_id = $1', [first.accountId])
  await services.db.query('update token set expires_at = created_at where account_id = $1', [
    second.accountId,
  ])
  const order = await service.ask('POST', '/orders', {
    token: owner.token,
    body: { product: 'nano', os_id: 1 },
  })
  vps = order.body.service_id
  await service.reconcile()
  invoice = (await service.ask('POST', '/balance/topup', { token: owner.token, body: { amount: 5 } })).body
    .invoice.id
  folder = mkdtempSync(join(tmpdir(), 'bad-keys-'))
  execFileSync('ssh-keygen', ['-q', '-t', 'rsa', '-b', '1024', '-N', '', '-f', join(folder, 'short')])
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'good')])
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

type Case = [what: string, code: ErrorCode, send: () => Promise<Reply>]
const order = (body: unknown, headers: Record<string, string> = {}) =>
  service.ask('POST', '/orders', { token: owner.token, body, headers })
const topup = (amount: unknown) =>
  service.ask('POST', '/balance/topup', { token: stranger.token, body: { amount } })
const topupText = (text: string) =>
  service.ask('POST', '/balance/topup', { token: stranger.token, body: `{"amount": ${text}}` })
const register = (body: unknown) => service.ask('POST', '/auth/register', { body })
const key = (file: string) => readFileSync(join(folder, `${file}.pub`), 'utf8')
const good = { product: 'nano', os_id: 1 }

const cases: Case[] = [
  ['JSON that ends in the middle', 'malformed_json', () => order('{"product": "na')],
  ['JSON with a comment', 'malformed_json', () => order('{} // nothing')],
  ['no JSON at all', 'malformed_json', () => register('email=ada@rackmail.net')],
  ['JSON with NaN', 'malformed_json', () => topupText('NaN')],
  ['an array for an object', 'invalid_input', () => order([good])],
  ['a text for an object', 'invalid_input', () => order('"nano"')],
  ['null for an object', 'invalid_input', () => order('null')],
  ['an empty body', 'invalid_input', () => order('')],
  [
    'a deeply nested body',
    'invalid_input',
    () => order(`{"product":${'['.repeat(50_000)}${']'.repeat(50_000)}}`),
  ],
  ['__proto__ as a field', 'invalid_input', () => order('{"__proto__": {"product": "nano"}, "os_id": 1}')],

  ['a number for a plan', 'invalid_input', () => order({ ...good, product: 1 })],
  ['a text for an os_id', 'invalid_input', () => order({ ...good, os_id: 'one' })],
  ['true for an os_id', 'invalid_input', () => order({ ...good, os_id: true })],
  ['null for an os_id', 'invalid_input', () => order({ ...good, os_id: null })],
  ['half an os_id', 'invalid_input', () => order({ ...good, os_id: 1.5 })],
  ['a text for a flag', 'invalid_input', () => order({ ...good, dry_run: 'no' })],
  ['an object for a key', 'invalid_input', () => order({ ...good, ssh_key: { key: 'x' } })],
  ['a misspelt field', 'invalid_input', () => order({ ...good, max_prise: 1 })],
  ['no plan', 'invalid_input', () => order({ os_id: 1 })],
  ['an unknown plan', 'unknown_product', () => order({ ...good, product: 'gigantic' })],
  ['a plan with SQL in it', 'unknown_product', () => order({ ...good, product: `nano' or '1'='1` })],
  ['another region', 'unknown_product', () => order({ ...good, region: 'moon' })],
  ['an image of another plan', 'os_not_supported', () => order({ product: 'old-only', os_id: 2 })],
  ['an image that does not exist', 'os_not_supported', () => order({ ...good, os_id: 99 })],
  ['an image below zero', 'os_not_supported', () => order({ ...good, os_id: -1 })],
  ['a host name with a space', 'invalid_input', () => order({ ...good, hostname: 'my host' })],
  ['a host name that is a command', 'invalid_input', () => order({ ...good, hostname: '$(reboot)' })],
  ['a host name with a line break', 'invalid_input', () => order({ ...good, hostname: 'web\n127.0.0.1' })],
  ['a label of 64 characters', 'invalid_input', () => order({ ...good, hostname: 'a'.repeat(64) })],
  ['a maximum price with a comma', 'invalid_input', () => order({ ...good, max_price: '3,00' })],
  ['a price above the maximum', 'price_above_maximum', () => order({ ...good, max_price: 2.99 })],

  ['an ssh key that is words', 'invalid_ssh_key', () => order({ ...good, ssh_key: 'my key' })],
  ['an empty ssh key', 'invalid_ssh_key', () => order({ ...good, ssh_key: '' })],
  ['a cut ssh key', 'invalid_ssh_key', () => order({ ...good, ssh_key: key('good').slice(0, 60) })],
  ['an rsa key of 1024 bits', 'invalid_ssh_key', () => order({ ...good, ssh_key: key('short') })],
  [
    'an ssh key with options',
    'invalid_ssh_key',
    () => order({ ...good, ssh_key: `command="x" ${key('good')}` }),
  ],
  ['two ssh keys', 'invalid_ssh_key', () => order({ ...good, ssh_key: key('good') + key('good') })],
  [
    'a private ssh key',
    'invalid_ssh_key',
    () => order({ ...good, ssh_key: readFileSync(join(folder, 'good'), 'utf8') }),
  ],
  ['an ssh key of 20 KB', 'invalid_input', () => order({ ...good, ssh_key: 'x'.repeat(20_000) })],

  ['a top-up of 2.99', 'invalid_input', () => topup(2.99)],
  ['a top-up of "2.99"', 'invalid_input', () => topup('2.99')],
  ['a top-up of 2.999999', 'invalid_input', () => topup('2.999999')],
  ['a top-up of -1', 'invalid_input', () => topup(-1)],
  ['a top-up of "-5"', 'invalid_input', () => topup('-5')],
  ['a top-up of 0', 'invalid_input', () => topup(0)],
  ['a top-up of "NaN"', 'invalid_input', () => topup('NaN')],
  ['a top-up of null', 'invalid_input', () => topup(null)],
  ['a top-up of 1e400', 'invalid_input', () => topupText('1e400')],
  ['a top-up of "1e2"', 'invalid_input', () => topup('1e2')],
  ['a top-up of "3,00"', 'invalid_input', () => topup('3,00')],
  ['a top-up with 7 decimals', 'invalid_input', () => topup('3.0000001')],
  ['a top-up with 7 decimals as a number', 'invalid_input', () => topup(3.0000001)],
  ['a top-up above the maximum', 'invalid_input', () => topup(10_000.01)],
  ['a top-up of a million digits', 'invalid_input', () => topup('9'.repeat(1_000_000))],
  ['a top-up of a list', 'invalid_input', () => topup([3])],
  ['a top-up without amount', 'invalid_input', () => topup(undefined)],
  [
    'a top-up on a network that does not exist',
    'invalid_input',
    () =>
      service.ask('POST', '/balance/topup', {
        token: stranger.token,
        body: { amount: 5, network: 'solana' },
      }),
  ],
  [
    'a top-up on a network that is not served',
    'payment_method_unavailable',
    () =>
      service.ask('POST', '/balance/topup', {
        token: stranger.token,
        body: { amount: 5, network: 'polygon' },
      }),
  ],

  [
    'an unknown service',
    'not_found',
    () => service.ask('GET', `/services/vps_${'0'.repeat(26)}`, { token: owner.token }),
  ],
  ['a service id that is none', 'not_found', () => service.ask('GET', '/services/1', { token: owner.token })],
  [
    'a service id with a null byte',
    'not_found',
    () => service.ask('GET', '/services/%00', { token: owner.token }),
  ],
  [
    'a service id that is no UTF-8',
    'not_found',
    () => service.ask('GET', '/services/%ff', { token: owner.token }),
  ],
  [
    'an endless service id',
    'not_found',
    () => service.ask('GET', `/services/${'x'.repeat(5000)}`, { token: owner.token }),
  ],
  [
    'a service of another',
    'not_owner',
    () => service.ask('GET', `/services/${vps}`, { token: stranger.token }),
  ],
  [
    'power of the service of another',
    'not_owner',
    () => service.ask('POST', `/services/${vps}/power`, { token: stranger.token, body: { action: 'stop' } }),
  ],
  [
    'cancelling the invoice of another',
    'not_owner',
    () => service.ask('POST', `/invoices/${invoice}/cancel`, { token: stranger.token, body: {} }),
  ],
  [
    'an action that is none',
    'invalid_input',
    () => service.ask('POST', `/services/${vps}/power`, { token: owner.token, body: { action: 'explode' } }),
  ],
  [
    'an immediate cancel without confirmation',
    'confirmation_required',
    () => service.ask('POST', `/services/${vps}/cancel`, { token: owner.token, body: { mode: 'immediate' } }),
  ],
  ['a path that is none', 'not_found', () => service.ask('GET', '/nothing', { token: owner.token })],

  [
    'a limit of nothing',
    'invalid_input',
    () => service.ask('GET', '/services?limit=0', { token: owner.token }),
  ],
  [
    'a limit of too much',
    'invalid_input',
    () => service.ask('GET', '/services?limit=101', { token: owner.token }),
  ],
  [
    'a limit given twice',
    'invalid_input',
    () => service.ask('GET', '/services?limit=1&limit=2', { token: owner.token }),
  ],
  ['an unknown query', 'invalid_input', () => service.ask('GET', '/services?page=2', { token: owner.token })],
  [
    'a wait of an hour',
    'invalid_input',
    () => service.ask('GET', `/services/${vps}?timeout=3600`, { token: owner.token }),
  ],

  ['no token', 'unauthorized', () => service.ask('GET', '/balance')],
  ['a malformed token', 'unauthorized', () => service.ask('GET', '/balance', { token: 'let-me-in' })],
  [
    'a token of a million characters',
    'unauthorized',
    () => service.ask('GET', '/balance', { token: 'x'.repeat(1_000_000) }),
  ],
  [
    'an unknown token',
    'unauthorized',
    () => service.ask('GET', '/balance', { token: makeToken(service.services.random) }),
  ],
  ['a revoked token', 'unauthorized', () => service.ask('GET', '/balance', { token: revoked })],
  ['an expired token', 'unauthorized', () => service.ask('GET', '/balance', { token: expired })],
  [
    'a token by another scheme',
    'unauthorized',
    () => service.ask('GET', '/balance', { headers: { authorization: `Basic ${owner.token}` } }),
  ],
  ['a malformed body without a token', 'unauthorized', () => service.ask('POST', '/orders', { body: '{' })],

  ['a body over 1 MiB', 'body_too_large', () => order({ ...good, ssh_key: 'x'.repeat(1024 * 1024) })],
  [
    'an e-mail of a million characters',
    'invalid_email',
    () => register({ email: `${'a'.repeat(1_000_000)}@x.net` }),
  ],
  ['an e-mail that is none', 'invalid_email', () => register({ email: 'ada' })],
  ['an e-mail that is a list', 'invalid_input', () => register({ email: ['ada@rackmail.net'] })],
  ['a reserved e-mail', 'reserved_email', () => register({ email: 'ada@example.com' })],
  ['an e-mail that is taken', 'email_taken', () => register({ email: 'BUYER1@rackmail.net' })],
  [
    'a name with a null byte',
    'invalid_input',
    () => register({ email: 'n@rackmail.net', first_name: 'A\u0000' }),
  ],
  [
    'a name of 101 characters',
    'invalid_input',
    () => register({ email: 'n@rackmail.net', last_name: 'x'.repeat(101) }),
  ],
  ['a short password', 'invalid_input', () => register({ email: 'n@rackmail.net', password: 'short' })],
  ['an e-mail with a null byte', 'invalid_input', () => register({ email: 'a\u0000@rackmail.net' })],
  [
    'a code that is a number',
    'invalid_input',
    () => service.ask('POST', '/auth/otp/verify', { body: { email: 'a@rackmail.net', code: 123456 } }),
  ],
  [
    'a form',
    'unsupported_media_type',
    () => order('product=nano', { 'content-type': 'application/x-www-form-urlencoded' }),
  ],
  ['XML', 'unsupported_media_type', () => order('<order/>', { 'content-type': 'text/xml' })],
  ['an idempotency key of nothing', 'invalid_input', () => order(good, { 'idempotency-key': '' })],
  [
    'an idempotency key of 256 characters',
    'invalid_input',
    () => order(good, { 'idempotency-key': 'k'.repeat(256) }),
  ],
]

test.each(cases)('error: %s: %s', async (_what, code, send) => {
  const before = await snapshot(service.services.db)
  expectError(await send(), code)
  expect(await snapshot(service.services.db)).toEqual(before)
})

test('behavior: every field that is wrong is named', async () => {
  const { body } = await order({ product: 1, os_id: 'x', nonsense: true })
  expect(body.details.map(({ path }: { path: string }) => path).sort()).toEqual([
    'nonsense',
    'os_id',
    'product',
  ])
})

test('error: the same idempotency key with another body', async () => {
  const headers = { 'idempotency-key': 'one-key' }
  const first = await service.ask('POST', '/auth/set-password', {
    token: stranger.token,
    body: { password: 'one password' },
    headers,
  })
  expect(first.status).toBe(200)
  const before = await snapshot(service.services.db)
  const other = await service.ask('POST', '/auth/set-password', {
    token: stranger.token,
    body: { password: 'two password' },
    headers,
  })
  expectError(other, 'idempotency_key_reused')
  const elsewhere = await service.ask('POST', '/balance/topup', {
    token: stranger.token,
    body: { amount: 5 },
    headers,
  })
  expectError(elsewhere, 'idempotency_key_reused')
  expect(await snapshot(service.services.db)).toEqual(before)
})

describe('error: a method that a path does not have', () => {
  test.each([
    ['DELETE', '/orders', 'POST'],
    ['GET', '/orders', 'POST'],
    ['POST', '/services', 'GET'],
    ['PUT', '/balance', 'GET'],
    ['GET', '/auth/register', 'POST'],
  ] as const)('%s %s: 405, and Allow says %s', async (method, path, allow) => {
    const reply = await service.ask(method, path, { token: owner.token })
    expectError(reply, 'method_not_allowed')
    expect(reply.headers.allow!.toString().split(', ')).toContain(allow)
  })
})

describe('as a tool', () => {
  const bad: [string, ErrorCode, string, () => Record<string, unknown>][] = [
    ['an unknown plan', 'unknown_product', 'order_vps', () => ({ ...good, product: 'gigantic' })],
    ['a broken key', 'invalid_ssh_key', 'order_vps', () => ({ ...good, ssh_key: 'ssh-rsa AAAA' })],
    ['a top-up of 2.99', 'invalid_input', 'topup_balance', () => ({ amount: 2.99 })],
    ['wrong types', 'invalid_input', 'order_vps', () => ({ product: {}, os_id: [] })],
    ['no service_id', 'not_found', 'get_vps_status', () => ({})],
    ['a service_id that is a number', 'not_found', 'get_vps_status', () => ({ service_id: 7 })],
    [
      'a service_id that is an object',
      'not_found',
      'power_vps',
      () => ({ service_id: { $ne: null }, action: 'stop' }),
    ],
    ['a service of another', 'not_owner', 'power_vps', () => ({ service_id: vps, action: 'stop' })],
  ]
  test.each(bad)('error: %s: %s', async (_what, code, name, input) => {
    const before = await snapshot(service.services.db)
    const { isError, body } = await service.tool(name, input(), { token: stranger.token })
    expect(isError).toBe(true)
    expectError({ status: errors[code].status, body }, code)
    expect(await snapshot(service.services.db)).toEqual(before)
  })

  test('error: a tool that does not exist', async () => {
    const { isError, body } = await service.tool('make_coffee', {}, { token: owner.token })
    expect(isError).toBe(true)
    expectError({ status: 404, body }, 'unknown_operation')
  })
})
