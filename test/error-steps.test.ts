import { type ErrorCode, errors } from '@coinrack/contract/errors.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accountRows } from './support/errors/account-rows.ts'
import { type CodeOfPayments, codesOfPayments } from './support/errors/codes-of-payments.ts'
import { requestRows } from './support/errors/request-rows.ts'
import { rightsRows } from './support/errors/rights-rows.ts'
import { sandboxRows } from './support/errors/sandbox-rows.ts'
import { vpsRows } from './support/errors/vps-rows.ts'
import { type Row, walk } from './support/errors/walk.ts'
import { type ErrorWorld, errorWorld } from './support/errors/world.ts'

/*
 * Each error leads on: every code of the contract is provoked, each step that the refusal offers is taken with the arguments
 * that it names, and the call gets further than before. A code without a row does not compile, and fails here.
 */

type Code = Exclude<ErrorCode, CodeOfPayments>

let world: ErrorWorld
let rows: Record<Code, Row>
beforeAll(async () => {
  world = await errorWorld()
  rows = {
    ...accountRows(world),
    ...requestRows(world),
    ...rightsRows(world),
    ...vpsRows(world),
    ...sandboxRows(world),
  }
})
afterAll(() => world?.service.close())

const own = (Object.keys(errors) as ErrorCode[]).filter(
  (code) => !(codesOfPayments as readonly string[]).includes(code),
) as Code[]

test('default: every code has a row, here or in the table of payments', () => {
  expect(Object.keys(rows).sort()).toEqual([...own].sort())
})

describe('a refusal leads on', () => {
  test.each(own)('error: %s', async (code) => {
    await walk(code, rows[code])
  })
})
