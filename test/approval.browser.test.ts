import { freePort } from '@coinrack/host/free-port.ts'
import { expectBooksToBalance } from '@coinrack/server/ledger/testing.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { injectWallet } from './injected-wallet.ts'

/*
 * A person's yes in the middle of an agent's call: the page of an approval in a real browser, from the refusal to the charge.
 */

const CHROMIUM = {
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
}

let service: TestService
let browser: Browser
let url: string

beforeAll(async () => {
  const port = await freePort()
  service = await startTestService({
    env: {
      COINRACK_PUBLIC_URL: `http://127.0.0.1:${port}`,
      COINRACK_RATE_REGISTER: '1000/min',
      COINRACK_RATE_LOGIN: '1000/min',
    },
  })
  url = await service.app.listen({ host: '127.0.0.1', port })
  browser = await chromium.launch(CHROMIUM)
})
afterAll(async () => {
  await browser?.close()
  if (service) await expectBooksToBalance(service.services.db)
  await service?.close()
})

async function ask(token: string, method: string, path: string, body?: object) {
  const answer = await fetch(`${url}/api/v1/eqvps${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: await answer.json() }
}

/** An agent with a limit of an owner with 10 USD; and the order that it is refused. */
async function refusedOrder(owner: { token: string; accountId: string }) {
  await service.credit(owner.accountId, 10_000_000n)
  const child = await ask(owner.token, 'POST', '/tokens', {
    name: 'shopper',
    budget: { approve_above: { per_call: '1.00' }, allow_auto_renew: true },
  })
  const order = () => ask(child.body.token, 'POST', '/orders', { product: 'nano', os_id: 1, hostname: 'web' })
  const refused = await order()
  expect([refused.status, refused.body.code]).toEqual([403, 'approval_needed'])
  return { order, refused: refused.body, token: child.body.token as string }
}

async function openPage(): Promise<{ page: Page; complaints: string[]; close(): Promise<void> }> {
  const context = await browser.newContext()
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) complaints.push(request.url())
  })
  return { page, complaints, close: () => context.close() }
}

async function proveByMail(page: Page, email: string) {
  await page.getByLabel('Your e-mail address').fill(email)
  await page.getByRole('button', { name: 'Send a code' }).click()
  const code = page.getByLabel(/The code from the mail/)
  await code.waitFor()
  await code.fill(/\d{6}/.exec(service.mails.at(-1)!.text)![0])
  await page.getByRole('button', { name: 'Continue' }).click()
}

const emailOf = async (accountId: string) =>
  (await service.services.db.query<{ email: string }>('select email from account where id = $1', [accountId]))
    .rows[0]!.email

test('default: the owner proves the mailbox, sees the quote and approves; the agent repeats the call and is charged once', async () => {
  const owner = await service.customer()
  const { order, refused, token } = await refusedOrder(owner)
  const waiting = ask(token, 'GET', `/approvals/${refused.approval_id}?wait=decided&timeout=50`)

  const { page, complaints, close } = await openPage()
  await page.goto(refused.approval_url)
  const before = await page.content()
  // Who has the link alone sees nothing of it.
  for (const secret of ['3.00', 'nano', 'shopper', '10.00']) expect(before).not.toContain(secret)
  await proveByMail(page, await emailOf(owner.accountId))
  await page.getByRole('heading', { name: 'Approve 3.00 USD?' }).waitFor()
  const shown = await page.locator('main').textContent()
  for (const part of [
    'VPS nano web, one month',
    'shopper',
    '3.00 USD more each month',
    '10.00 USD, after it 7.00 USD',
    'with no end in sight; after it until 2026-',
    'may spend 1.00 USD in one call without you',
    'decides what runs on it',
  ])
    expect(shown).toContain(part)
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('heading', { name: 'Approved' }).waitFor()
  await close()
  expect(complaints).toEqual([])

  expect((await waiting).body).toMatchObject({ status: 'approved' })
  const both = await Promise.all([order(), order()])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 403])
  expect((await ask(owner.token, 'GET', '/balance')).body).toMatchObject({ balance: '7.00', held: '3.00' })
  expect((await ask(token, 'GET', `/approvals/${refused.approval_id}`)).body).toMatchObject({
    status: 'spent',
  })
})

test('behavior: a denial is told to the agent, and nothing is charged', async () => {
  const owner = await service.customer()
  const { order, refused } = await refusedOrder(owner)
  const { page, complaints, close } = await openPage()
  await page.goto(refused.approval_url)
  await proveByMail(page, await emailOf(owner.accountId))
  await page.getByRole('button', { name: 'Deny' }).click()
  await page.getByRole('heading', { name: 'Denied' }).waitFor()
  expect((await order()).body).toMatchObject({ approval_status: 'denied', approval_id: refused.approval_id })
  expect((await ask(owner.token, 'GET', '/balance')).body.balance).toBe('10.00')
  // The proof was for one decision: to look again is to prove again.
  await page.goto(refused.approval_url)
  await page.getByLabel('Your e-mail address').waitFor()
  await proveByMail(page, await emailOf(owner.accountId))
  await page.getByRole('heading', { name: 'Denied' }).waitFor()
  await close()
  expect(complaints).toEqual([])
})

test('error: the owner of another account, and a bearer token of this one, decide nothing', async () => {
  const owner = await service.customer()
  const other = await service.customer()
  const { order, refused, token } = await refusedOrder(owner)
  const { page, close } = await openPage()
  await page.goto(refused.approval_url)
  await proveByMail(page, await emailOf(other.accountId))
  await page.getByText('This is not for your account').waitFor()
  expect(await page.content()).not.toContain('nano')
  await close()
  for (const bearer of [owner.token, token]) {
    const sent = await fetch(`${refused.approval_url}/decision`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${bearer}`,
        origin: url,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'decision=approved',
    })
    expect(sent.status).toBe(403)
  }
  expect((await order()).status).toBe(403)
})

test('behavior: the owner of a wallet account approves by a signature', async () => {
  const { page, complaints, close } = await openPage()
  const [chain] = service.services.chains
  const wallet = await injectWallet(page, { knows: [chain!.settings] })
  const challenge = await service.ask('POST', '/x402/login/challenge', { body: { address: wallet.address } })
  const signature = await wallet.sign(challenge.body.message)
  const login = await service.ask('POST', '/x402/login', {
    body: { message: challenge.body.message, signature },
  })
  const owner = { token: login.body.token as string, accountId: login.body.account.id as string }
  const { order, refused } = await refusedOrder(owner)

  await page.goto(refused.approval_url)
  await page.getByRole('button', { name: 'Log in with Test Wallet' }).click()
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('heading', { name: 'Approved' }).waitFor()
  expect(wallet.asked()).toContain('personal_sign')
  await close()
  expect(complaints).toEqual([])
  expect((await order()).status).toBe(200)
  expect((await ask(owner.token, 'GET', '/balance')).body.balance).toBe('7.00')
})

test('behavior: the page of what is over says so', async () => {
  const owner = await service.customer()
  const { refused } = await refusedOrder(owner)
  const { page, close } = await openPage()
  await page.goto(refused.approval_url)
  await proveByMail(page, await emailOf(owner.accountId))
  await page.getByRole('button', { name: 'Approve' }).waitFor()
  await service.ask('DELETE', `/tokens/${refused.limit.token_id}`, { token: owner.token })
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('The token has ended').waitFor()
  await page.goto(`${url}/approvals/apr_01kabcdefghjkmnpqrstvwxyz0`)
  await page.getByText('There is no such approval').waitFor()
  await close()
})
