import { readdirSync, readFileSync } from 'node:fs'
import { exampleWallet } from '@coinrack/contract/examples.ts'
import { operationList } from '@coinrack/contract/index.ts'
import { resourceInput, toolName } from '@coinrack/contract/operation.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/*
 * What stands in examples in place of a reader's own key, mailbox, wallet, receiver or password is refused when it is used,
 * in a sentence that says where it comes from.
 */

let service: TestService
let token: string
let service_id: string
beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_REGISTER: '1000/min', COINRACK_RATE_LOGIN: '1000/min' },
  })
  ;({ token } = await service.customer(90_000_000n))
  ;({ service_id } = (await service.tool('order_vps', { product: 'nano', os_id: 1 }, { token })).body)
  await service.reconcile()
})
afterAll(() => service.close())

const SAYS = /the documentation's example/

/** The kinds of values that could be somebody's own. */
const kinds = {
  email: /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g,
  sshKey: /ssh-(?:ed25519|rsa) [A-Za-z0-9+/=]{60,}/g,
  wallet: /0x[0-9a-fA-F]{40}(?![0-9a-fA-F])/g,
}
const found = (text: string, kind: keyof typeof kinds) => [...new Set(text.match(kinds[kind]) ?? [])]

const documents = ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)].filter((path) =>
  path.endsWith('.md'),
)
const texts = [
  JSON.stringify(operationList.map(([, { example }]) => example)),
  ...documents.map((path) => readFileSync(path, 'utf8')),
]
const all = (kind: keyof typeof kinds) => [...new Set(texts.flatMap((text) => found(text, kind)))]

const ask = (tool: string, input: Record<string, unknown>) => service.tool(tool, input, { token })

/** The operations whose example has a value of a reader's own, with the name of that input. */
const copied = operationList.flatMap(([name, op]) =>
  Object.entries(op.example).flatMap(([field, value]) => {
    const isOwn =
      typeof value === 'string' &&
      (['email', 'public_key', 'ssh_key', 'password', 'url'].includes(field) || value === exampleWallet)
    // Who logs in has an account already: that of the example is none.
    // An account that has an address is refused another one whatever it is.
    return isOwn && op.access !== 'public' && name !== 'setEmail' ? [{ name, op, field }] : []
  }),
)

describe('the example of an operation', () => {
  test('default: there are some with keys, mailboxes, wallets, receivers and passwords', () => {
    expect(copied.map(({ field }) => field)).toEqual(
      expect.arrayContaining(['email', 'public_key', 'ssh_key', 'password', 'url', 'address']),
    )
  })

  test.each(copied)('error: $name refuses its $field', async ({ name, op, field }) => {
    const id = op.resource === 'service' ? { [resourceInput(op.resource)]: service_id } : {}
    if (name === 'requestRefund') return expectRefund(op.example)
    const { isError, body } = await ask(toolName(name), { ...op.example, ...id })
    expect([isError, body.message]).toEqual([true, expect.stringMatching(SAYS)])
    expect(body.details?.[0].path ?? field).toBe(field)
  })

  /** It wants the mailbox proven first. */
  async function expectRefund(example: Record<string, unknown>) {
    const email = (await ask('whoami', {})).body.email as string
    await service.tool('request_login_code', { email })
    const [code] = /\b\d{6}\b/.exec(service.mails.at(-1)!.text)!
    const { token: proven } = (await service.tool('verify_login_code', { email, code })).body
    const { body } = await service.tool('request_refund', example, { token: proven })
    expect(body.message).toMatch(SAYS)
  }
})

test('error: every e-mail address of the contract and the documents is refused', async () => {
  expect(all('email').length).toBeGreaterThan(2)
  for (const email of all('email'))
    for (const tool of ['register_account', 'request_login_code']) {
      const { isError, body } = await service.tool(tool, { email })
      expect([email, isError, body.message]).toEqual([email, true, expect.stringMatching(SAYS)])
    }
})

test('error: every SSH key of the contract and the documents is refused', async () => {
  expect(all('sshKey').length).toBeGreaterThan(0)
  for (const public_key of all('sshKey')) {
    for (const [tool, input] of [
      ['add_ssh_key', { public_key }],
      ['order_vps', { product: 'nano', os_id: 1, ssh_key: public_key }],
    ] as const)
      expect((await ask(tool, input)).body.message).toMatch(SAYS)
  }
})

test('error: every wallet of an example is refused, for logging in too', async () => {
  const wallets = found(texts[0]!, 'wallet')
  expect(wallets).toEqual([exampleWallet])
  for (const address of wallets)
    expect((await service.tool('request_wallet_challenge', { address })).body.message).toMatch(SAYS)
})

test('behavior: what get_started offers can be called as it stands, or is an example that is refused', async () => {
  const { body } = await ask('get_started', {})
  const { next } = body.you_are_here
  expect((await ask(next.tool, next.arguments ?? {})).isError).toBe(false)
  const [register] = body.flow
  expect((await service.tool(register.tool, register.arguments)).body.message).toMatch(SAYS)
})
