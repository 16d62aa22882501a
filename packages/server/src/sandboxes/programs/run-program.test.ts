import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'
import { endPrograms } from './end-programs.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_SANDBOXES: '100000/min', COINRACK_RATE_DEFAULT: '100000/min' },
  })
})
afterAll(() => service.close())

const CENT = 10_000n

/** Runs a program for a customer with a dollar. */
async function run(code: string, input: Record<string, unknown> = {}) {
  const { token, accountId } = await service.customer(100n * CENT)
  const reply = await service.ask('POST', '/programs', { token, body: { code, ...input } })
  return { ...reply, token, accountId }
}

/** The tokens of programs that still count, and the sandboxes that are not gone. */
async function left(accountId: string) {
  const { rows: tokens } = await service.services.db.query(
    `select id from token where account_id = $1 and kind = 'program' and revoked_at is null`,
    [accountId],
  )
  const { rows: sandboxes } = await service.services.db.query(
    'select id from sandbox where account_id = $1 and gone_at is null',
    [accountId],
  )
  return [...tokens, ...sandboxes]
}

describe('a program', () => {
  test('default: calls operations by their methods, and answers what it printed', async () => {
    const { status, body, accountId } = await run(`
      interface Plan { slug: string }
      const { items } = await coinrack.listPlans({})
      console.log((items as Plan[]).length > 0, typeof items[0].slug)
      const { balance } = await coinrack.get_balance()
      console.error(balance)`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      stdout: 'true string\n',
      exit_code: 0,
      timed_out: false,
      error: null,
      left_out: { stdout: 0, stderr: 0 },
      operations: [
        { operation: 'listPlans', calls: 1, failed: 0 },
        { operation: 'getBalance', calls: 1, failed: 0 },
      ],
      budget: '0.00',
      spent: '0.00',
    })
    expect(body.stderr).toMatch(/^\d\.\d+\n$/)
    expect(await left(accountId)).toEqual([])
  })

  test('default: many calls at once are each answered with their own', async () => {
    const { body } = await run(`
      const answers = await Promise.all(Array.from({ length: 100 }, (_, index) =>
        index % 2 ? coinrack.getBalance() : coinrack.listSandboxes({})))
      console.log(answers.every((answer, index) => index % 2 ? 'balance' in answer : 'items' in answer))`)
    expect(body).toMatchObject({ stdout: 'true\n', exit_code: 0 })
  })

  test('error: what it throws is an answer, with the line of its own code', async () => {
    const { status, body } = await run('const a: number = 1\nawait 1\nnull.x')
    expect(status).toBe(200)
    expect(body).toMatchObject({ exit_code: 1, error: { name: 'TypeError', line: 3 } })
    expect(body.stderr).toContain('TypeError')
  })

  test('error: a refused call throws code, message and fix, at the line that called', async () => {
    const { body } =
      await run(`try { await coinrack.getSandbox({ sandbox_id: 'sbx_1' }) } catch (error) { console.log(error.code) }

await coinrack.orderVps({ product: 'nano', os_id: 1 })`)
    expect(body.stdout).toBe('not_found\n')
    expect(body.error).toMatchObject({ name: 'CoinrackError', line: 3 })
    expect(body.operations).toContainEqual({ operation: 'orderVps', calls: 1, failed: 1 })
  })

  test('error: what is no program is refused before anything is made', async () => {
    const { status, body, accountId } = await run('let a = 1\nlet b: = 2')
    expect([status, body.code]).toEqual([422, 'invalid_input'])
    expect(body.details[0]).toMatchObject({ path: 'code', message: expect.stringMatching(/^line 2: /) })
    const { rows } = await service.services.db.query('select from sandbox where account_id = $1', [accountId])
    expect(rows).toEqual([])
  })

  test('error: one that does not end is ended, and what it did is told', async () => {
    const { body, accountId } = await run(
      'await coinrack.getBalance()\nconsole.log(1)\nawait new Promise(() => setInterval(() => {}, 1000))',
      { timeout: 2 },
    )
    expect(body).toMatchObject({ stdout: '1\n', exit_code: null, timed_out: true })
    expect(body.operations).toHaveLength(1)
    expect(await left(accountId)).toEqual([])
  })

  test('behavior: what it left open is waited for, as Node.js does', async () => {
    const { body } = await run(`
      const main = async () => { await new Promise((resolve) => setTimeout(resolve, 50)); await coinrack.getBalance(); console.log('late') }
      main(); 1`)
    expect(body).toMatchObject({ stdout: 'late\n', exit_code: 0 })
  })

  test('behavior: of what it prints, beginning and end are shown', async () => {
    const { body } = await run(`console.log('b' + 'x'.repeat(100_000) + 'e')`)
    expect(body.stdout).toMatch(/^bx+\n\[76\d+ bytes are cut here\]\nx+e\n$/)
    expect(body.stdout.length).toBeLessThan(24_100)
    expect(body.left_out.stdout).toBeGreaterThan(76_000)
  })
})

describe('its budget', () => {
  const sandbox = `const { id } = await coinrack.createSandbox({}); console.log(id)`

  test('error: without one it spends nothing but its own run time', async () => {
    const { body, token } = await run(sandbox)
    expect(body.error).toMatchObject({ name: 'CoinrackError', message: expect.stringContaining('budget') })
    expect(body.spent).toBe('0.00')
    const { body: statement } = await service.ask('GET', '/sandboxes', { token })
    expect(statement).toEqual([])
  })

  test('default: with one it spends that', async () => {
    const { body, token } = await run(sandbox, { budget: '0.50' })
    expect(body).toMatchObject({ exit_code: 0, budget: '0.50' })
    expect((await service.ask('GET', '/sandboxes', { token })).body).toHaveLength(1)
  })

  test('error: one above that of the token that calls is refused', async () => {
    const { token, accountId } = await service.customer(100n * CENT)
    const { body: child } = await service.ask('POST', '/tokens', {
      token,
      body: { budget: { total: '0.10' } },
    })
    const body = { code: '1', budget: '0.20' }
    const reply = await service.ask('POST', '/programs', { token: child.token, body })
    expect([reply.status, reply.body.code]).toEqual([403, 'budget_exceeded'])
    expect(await left(accountId)).toEqual([])
  })

  test('error: without money nothing is run', async () => {
    const { token, accountId } = await service.customer()
    const reply = await service.ask('POST', '/programs', { token, body: { code: '1' } })
    expect([reply.status, reply.body.code]).toEqual([402, 'insufficient_balance'])
    expect(await left(accountId)).toEqual([])
  })
})

describe('what is closed to it', () => {
  test.each([
    ['createToken', '{}'],
    ['refreshToken', '{}'],
    ['listTokens', '{}'],
    ['logout', '{}'],
    ['setPassword', `{ password: 'a long password' }`],
    ['registerAccount', `{ email: 'other@rackmail.net' }`],
    ['requestLoginCode', `{ email: 'other@rackmail.net' }`],
    ['runProgram', `{ code: '1' }`],
    ['createWebhook', `{ url: 'https://example.com/' }`],
  ])('error: %s', async (name, input) => {
    const { body } = await run(
      `try { await coinrack.${name}(${input}) } catch (error) { console.log(error.code) }`,
    )
    expect(body.stdout).toBe('closed_to_token\n')
  })

  test('error: its own sandbox, for anybody, but to look at it and end it', async () => {
    const { body } = await run(`
      const [{ id, network }] = (await coinrack.listSandboxes({})).items
      console.log(network.allow_internet, (await coinrack.getSandbox({ sandbox_id: id })).id === id)
      const codes = []
      for (const [name, input] of [
        ['setSandboxNetwork', { allow_internet: true }], ['exposePort', { port: 8000 }], ['forkSandbox', {}],
        ['createSandboxSnapshot', {}], ['pauseSandbox', {}], ['execCommand', { command: 'true' }],
        ['getUploadUrl', { path: 'a' }], ['getSandboxMetrics', {}],
      ]) await coinrack[name]({ sandbox_id: id, ...input }).catch((error) => codes.push(error.code))
      console.log(codes.length, [...new Set(codes)].join())`)
    expect(body.stdout).toBe('false true\n8 not_owner\n')
  })
})

test('behavior: a caller that hangs up ends its program, its token and its sandbox', async () => {
  const origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
  const { token, accountId } = await service.customer(100n * CENT)
  const hangUp = new AbortController()
  const asked = fetch(`${origin}/api/v1/eqvps/programs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      code: 'await new Promise((resolve) => setTimeout(resolve, 40_000))',
      timeout: 45,
    }),
    signal: hangUp.signal,
  })
  await expect.poll(() => left(accountId), { timeout: 10_000 }).toHaveLength(2)
  hangUp.abort()
  await expect(asked).rejects.toThrow()
  await expect.poll(() => left(accountId), { timeout: 10_000 }).toEqual([])
})

test('behavior: what a killed process left of a program is ended before sandboxes are open again', async () => {
  const { token, accountId } = await service.customer(100n * CENT)
  const asked = service.ask('POST', '/programs', {
    token,
    body: { code: 'await new Promise((resolve) => setTimeout(resolve, 40_000))', timeout: 45 },
  })
  await expect.poll(() => left(accountId), { timeout: 10_000 }).toHaveLength(2)
  await endPrograms(service.services)
  const { rows } = await service.services.db.query(
    `select revoked_at is not null as is_over from token where account_id = $1 and kind = 'program'`,
    [accountId],
  )
  expect(rows).toEqual([{ is_over: true }])
  await service.reconcileSandboxes()
  expect(await left(accountId)).toEqual([])
  expect((await asked).body.operations ?? []).toEqual([])
})

test('behavior: the same key runs a program once', async () => {
  const { token } = await service.customer(100n * CENT)
  const ask = () =>
    service.ask('POST', '/programs', {
      token,
      body: { code: 'console.log(process.hrtime.bigint())' },
      headers: { 'idempotency-key': 'once' },
    })
  const first = await ask()
  expect((await ask()).body).toEqual(first.body)
})

test('behavior: as a tool it is the same', async () => {
  const { token } = await service.customer(100n * CENT)
  const { isError, body } = await service.tool('run_program', { code: 'console.log(1)' }, { token })
  expect(isError).toBe(false)
  expect(body.stdout).toBe('1\n')
})
