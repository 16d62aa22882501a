import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../process/testing.ts'
import { recordFailure } from './failed-login-store.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

let service: TestService
let email: string
let count = 0
beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_LOGIN: '1000/min', COINRACK_RATE_REGISTER: '1000/min' },
  })
})
afterAll(() => service.close())
beforeEach(() => {
  email = `agent${++count}@rackmail.net`
})

const request = (to = email, path = '/auth/otp/request', address = '127.0.0.1') =>
  service.ask('POST', path, { body: { email: to }, address })
const verify = (code: string, to = email, path = '/auth/otp/verify', address = '127.0.0.1') =>
  service.ask('POST', path, { body: { email: to, code }, address })
const longCode = () => /\b(?:[0-9A-Z]{4}-){2}[0-9A-Z]{4}\b/.exec(service.mails.at(-1)!.text)![0]
const mailedCode = () => /\b\d{6}\b/.exec(service.mails.at(-1)!.text)![0]
const other = (code: string, by = 1) => String((Number(code) + by) % 1_000_000).padStart(6, '0')
async function newCode(): Promise<string> {
  expect((await request()).status).toBe(200)
  return mailedCode()
}

describe('requestLoginCode', () => {
  test('default: mails six digits to the address, and says nothing of them', async () => {
    const { status, body } = await request()
    expect(status).toBe(200)
    expect(body).toEqual({ message: expect.any(String), expires_in: 600 })
    expect(service.mails.at(-1)).toMatchObject({ to: email, subject: expect.stringContaining(mailedCode()) })
    expect(JSON.stringify(body)).not.toContain(mailedCode())
  })

  test('behavior: the answer is the same whether or not there is an account', async () => {
    const unknown = await request()
    await service.ask('POST', '/auth/register', { body: { email: 'known@rackmail.net' } })
    const known = await request('known@rackmail.net')
    expect({ status: known.status, body: known.body }).toEqual({ status: unknown.status, body: unknown.body })
  })

  test('behavior: the code is stored as a hash that needs the server secret', async () => {
    const code = await newCode()
    const { rows } = await service.services.db.query('select row_to_json(c)::text as text from login_code c')
    expect(rows.map(({ text }) => text).join()).not.toContain(code)
  })

  test('default: five an hour and twenty a day of six digits, then one in ten minutes of twelve characters', async () => {
    const statuses: number[] = []
    const mails = service.mails.length
    for (let hour = 0; hour < 5; hour++) {
      for (let tries = 0; tries < 6; tries++) statuses.push((await request()).status)
      service.clock.advance(HOUR_MS + 1)
    }
    const hourly = [200, 200, 200, 200, 200, 429]
    const fifthHour = [200, 429, 429, 429, 429, 429]
    expect(statuses).toEqual([...hourly, ...hourly, ...hourly, ...hourly, ...fifthHour])
    expect(service.mails.length - mails).toBe(21)
    expect(service.mails.at(-1)!.subject).toMatch(/^([0-9A-Z]{4}-){2}[0-9A-Z]{4} is your login code$/)
    expect((await request(`other-${email}`)).status).toBe(200)
    service.clock.advance(24 * HOUR_MS)
    expect((await request()).status).toBe(200)
  })

  test('behavior: of ten requests at the same moment five are served', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => request()))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(5)
  })

  test('behavior: a mail that cannot be sent leaves no code and is no success', async () => {
    const { mailer } = service.services
    service.services.mailer = {
      send: async () => {
        throw new Error('connection refused')
      },
    }
    const { status, body, headers } = await request()
    service.services.mailer = mailer
    expect([status, body.code]).toEqual([503, 'mail_unavailable'])
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    expect(JSON.stringify(body)).not.toContain('connection refused')
    const { rows } = await service.services.db.query('select from login_code where email = $1', [email])
    expect(rows).toHaveLength(0)
  })
})

describe('verifyLoginCode', () => {
  test('default: the code opens an account that is verified, and logs in', async () => {
    const { status, body } = await verify(await newCode())
    expect(status).toBe(200)
    expect(body.account).toMatchObject({ email, email_verified: true, has_password: false })
    expect((await service.ask('GET', '/balance', { token: body.token })).status).toBe(200)
  })

  test('default: the short paths answer the same', async () => {
    await request(email, '/otp/request')
    expect((await verify(mailedCode(), email, '/otp/verify')).status).toBe(200)
  })

  test('behavior: it logs in to the account that there is', async () => {
    const { body } = await service.ask('POST', '/auth/register', { body: { email } })
    const again = await verify(await newCode(), email.toUpperCase())
    expect(again.body.account.id).toBe(body.account.id)
  })

  test('behavior: one code, one login', async () => {
    const code = await newCode()
    expect((await verify(code)).status).toBe(200)
    expect(await verify(code)).toMatchObject({ status: 401, body: { code: 'invalid_code' } })
  })

  test('behavior: of ten uses at the same moment one logs in', async () => {
    const code = await newCode()
    const all = await Promise.all(Array.from({ length: 10 }, () => verify(code)))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('behavior: good for ten minutes, to the millisecond', async () => {
    const code = await newCode()
    service.clock.advance(10 * MINUTE_MS - 1)
    expect((await verify(code)).status).toBe(200)
    const late = await newCode()
    service.clock.advance(10 * MINUTE_MS)
    expect((await verify(late)).status).toBe(401)
  })

  test('behavior: of several codes up to three are good, the newest', async () => {
    const codes = [await newCode(), await newCode(), await newCode(), await newCode()]
    expect((await verify(codes[0]!)).status).toBe(401)
    expect((await verify(codes[1]!)).status).toBe(200)
    // The login ended the others.
    expect((await verify(codes[3]!)).status).toBe(401)
  })

  test('error: the code of another address', async () => {
    const code = await newCode()
    expect((await verify(code, 'someone-else@rackmail.net')).status).toBe(401)
  })

  test('error: after five tries the right code is no good', async () => {
    const code = await newCode()
    for (let tries = 1; tries <= 5; tries++) expect((await verify(other(code, tries))).status).toBe(401)
    expect(await verify(code)).toMatchObject({ status: 401, body: { code: 'invalid_code' } })
    expect((await verify(await newCode())).status).toBe(200)
  })

  test('behavior: tries at the same moment are counted one by one', async () => {
    const code = await newCode()
    const wrong = Array.from({ length: 20 }, (_, index) => verify(other(code, index + 1)))
    expect((await Promise.all(wrong)).every(({ status }) => status === 401)).toBe(true)
    expect((await verify(code)).status).not.toBe(200)
  })

  test('default: after twenty wrong tries codes have twelve characters; nobody is closed out', async () => {
    for (let codes = 0; codes < 4; codes++) {
      const code = await newCode()
      for (let tries = 1; tries <= 5; tries++) expect((await verify(other(code, tries))).status).toBe(401)
    }
    const refused = await request()
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'rate_limited', next_steps: [{ tool: 'verify_login_code' }] },
    })
    expect(Number(refused.headers['retry-after'])).toBe(600)
    service.clock.advance(10 * MINUTE_MS)
    expect((await request()).status).toBe(200)
    const long = longCode()
    expect((await verify(long.toLowerCase().replaceAll('-', ' '))).status).toBe(200)
    service.clock.advance(24 * HOUR_MS)
    await newCode()
  })

  test('behavior: of a code of twelve characters each client has five tries, by whomever it was asked for', async () => {
    for (let time = 0; time < 20; time++)
      await recordFailure(service.services.db, `code:${email}`, service.clock.now())
    expect((await request(email, undefined, '203.0.113.1')).status).toBe(200)
    const long = longCode()
    for (let host = 2; host < 12; host++)
      for (let tries = 0; tries < 6; tries++)
        expect((await verify('AAAA-BBBB-CCCC', email, undefined, `203.0.113.${host}`)).status).toBe(401)
    expect((await verify(long, email, undefined, '203.0.113.2')).status).toBe(401)
    expect((await verify(long, email, undefined, '203.0.113.200')).status).toBe(200)
  })

  test('behavior: strangers use up their own tries, not those of the client that asked', async () => {
    expect((await request(email, undefined, '203.0.113.50')).status).toBe(200)
    const code = mailedCode()
    for (let tries = 1; tries <= 6; tries++) {
      const stranger = await verify(other(code, tries), email, undefined, `198.51.100.${tries}`)
      expect(stranger.status).toBe(401)
    }
    // Codes that strangers ask for do not push it out either.
    for (let tries = 0; tries < 4; tries++) await request(email, undefined, `198.51.100.${tries}`)
    expect((await verify(code, email, undefined, '198.51.100.9')).status).toBe(401)
    expect((await verify(code, email, undefined, '203.0.113.50')).status).toBe(200)
  })

  test.each(['12345', '1234567', 'AAAABBBBCCC', 'AAAA-BBBB-CCCC-D', '', '--'])(
    'error: %s cannot be a code',
    async (text) => {
      expect((await verify(text)).status).toBe(422)
    },
  )
})

describe('the first proof of the mailbox', () => {
  const password = 'of whoever came first'
  const login = () => service.ask('POST', '/auth/login', { body: { email, password } })

  test('behavior: clears the password that was set before it', async () => {
    await service.ask('POST', '/auth/register', { body: { email, password } })
    expect((await login()).status).toBe(200)
    const { body } = await verify(await newCode())
    expect(body.account).toMatchObject({ has_password: false, email_verified: true })
    expect((await login()).status).toBe(401)
  })

  test('behavior: a later one does not', async () => {
    const { body } = await verify(await newCode())
    await service.ask('POST', '/auth/set-password', { token: body.token, body: { password } })
    expect((await verify(await newCode())).body.account.has_password).toBe(true)
    expect((await login()).status).toBe(200)
  })
})
