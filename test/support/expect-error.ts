import { type ErrorCode, errors } from '@coinrack/contract/errors.ts'
import { operationList } from '@coinrack/contract/index.ts'
import { toolName } from '@coinrack/contract/operation.ts'
import { ErrorBody } from '@coinrack/contract/wire.ts'
import type { Reply } from '@coinrack/server/process/testing.ts'
import { expect } from 'vitest'

const tools = new Set(operationList.map(([name]) => toolName(name)))

/** The whole error body, of this code, with nothing of the inside in it. */
export function expectError(
  { status, body, headers }: Pick<Reply, 'status' | 'body'> & Partial<Reply>,
  code: ErrorCode,
) {
  expect(body.code).toBe(code)
  expect(status).toBe(errors[code].status)
  expect(ErrorBody.safeParse(body).error).toBeUndefined()
  expect(body.message.length).toBeGreaterThan(0)
  expect(body.message.length).toBeLessThan(2000)
  expect(body.fix).toMatch(/\.$/)
  expect(body.request_id).toMatch(/^[\w-]{8,40}$/)
  if (headers) expect(headers['x-request-id']).toBe(body.request_id)
  for (const { tool } of body.next_steps) expect(tools).toContain(tool)
  expect(JSON.stringify(body)).not.toMatch(
    /\bat .*\(.*:\d+:\d+\)|node_modules|select |insert into|\.ts:|ZodError|pg_/i,
  )
}
