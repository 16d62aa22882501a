import { describe, expect, test } from 'vitest'
import { accountErrors, commonErrors, resourceErrors } from './common-errors.ts'
import { errors } from './errors.ts'
import { type OperationName, operationList } from './index.ts'
import { pathInputs, resourceInput, toolName } from './operation.ts'
import { rateSubjects } from './rates.ts'

const tools = new Set(operationList.map(([name]) => toolName(name)))

/** Handed to `next` of an operation, so that its advice can be looked at. */
const answers: Partial<Record<OperationName, Record<string, unknown>[]>> = {
  payInvoice: [{ status: 'settled' }, { status: 'initiated', invoice: { id: 'inv_0' } }],
  getInvoice: [
    { id: 'inv_0', status: 'paid' },
    { id: 'inv_0', status: 'unpaid' },
  ],
  getVpsStatus: [
    { id: 'vps_0', ssh_ready: false },
    { id: 'vps_0', ssh_ready: true, ssh: { command: 'ssh' } },
  ],
}

describe.each(operationList)('%s', (name, op) => {
  test('default: the example is an input that works', () => {
    const result = op.input.safeDecode(op.example as never)
    expect(result.error?.issues).toBeUndefined()
  })

  test('behavior: an unknown field is refused, so that a misspelt one is noticed', () => {
    expect(op.input.safeDecode({ ...op.example, no_such_field: 1 } as never).success).toBe(false)
  })

  test('behavior: its name is one word of a verb and a noun, and so is its tool', () => {
    expect(name).toMatch(/^[a-z]+([A-Z][a-z]+)*$/)
    expect(toolName(name)).toMatch(/^[a-z]+(_[a-z]+)*$/)
  })

  test('behavior: a path with an identifier names what it identifies, and no other has one', () => {
    expect(op.path.includes('{id}')).toBe(op.resource !== undefined)
    if (op.resource) expect(op.input.shape).toHaveProperty(resourceInput(op.resource))
    for (const field of pathInputs(op)) expect(op.input.shape).toHaveProperty(field)
    if (op.resource) expect(op.access).not.toBe('public')
  })

  test('behavior: its errors are declared, and none repeats what any operation may answer', () => {
    const common: readonly string[] = [...commonErrors, ...accountErrors, ...resourceErrors]
    expect(op.errors.filter((code) => !(code in errors))).toEqual([])
    expect(op.errors.filter((code) => common.includes(code))).toEqual([])
  })

  test('behavior: what it advises to call next exists', () => {
    const advice = (answers[name] ?? [{}]).flatMap((answer) => op.next?.(answer, op.example) ?? [])
    expect(advice.filter(({ tool }) => !tools.has(tool))).toEqual([])
    expect(advice.every(({ why }) => why.length > 0)).toBe(true)
  })

  test('behavior: says what it is for', () => {
    expect(op.summary).not.toMatch(/\.$/)
    expect(op.description).toMatch(/[.\]]$/)
    expect(rateSubjects).toHaveProperty(op.rate)
  })

  test('behavior: only a GET can promise to change nothing', () => {
    if (op.effect === 'read') expect(op.method).toBe('GET')
    if (op.effect === 'read') expect(op.idempotent).toBe(true)
  })
})

test('behavior: no two operations share a method and a path', () => {
  const routes = operationList.flatMap(([, op]) =>
    [op.path, ...(op.aliases ?? [])].map((path) => `${op.method} ${path}`),
  )
  expect(new Set(routes).size).toBe(routes.length)
})

test('behavior: no tool shares a name', () => {
  expect(tools.size).toBe(operationList.length)
})

test.each(Object.entries(errors))(
  'default: error %s has a status of its kind and says what to do',
  (code, { status, fix }) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect([400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 422, 429, 500, 502, 503]).toContain(status)
    expect(fix).toMatch(/^[A-Z].*\.$/)
  },
)

test('behavior: every error names tools that exist', () => {
  const named = Object.values(errors).flatMap(({ fix }) => fix.match(/\b[a-z]+_[a-z_]+\b/g) ?? [])
  const others = [
    'request_id',
    'retry_after',
    'os_id',
    'max_price',
    'payment_options',
    'checkout_url',
    'raised_by',
    'approval_url',
    'per_day',
  ]
  expect(named.filter((word) => !tools.has(word) && !others.includes(word))).toEqual([])
})

test('behavior: what the specification lists as public is public, and nothing else', () => {
  const open = operationList.filter(([, op]) => op.access === 'public' && !op.atOrigin).map(([name]) => name)
  expect(open.sort()).toEqual([
    'listPlans',
    'listReviews',
    'login',
    'registerAccount',
    'requestLoginCode',
    'verifyLoginCode',
  ])
})
