import { errors } from '@coinrack/contract/errors.ts'
import type { NextStep } from '@coinrack/contract/wire.ts'
import { expect } from 'vitest'

type Input = Record<string, unknown>

/** An answer by either interface. */
export interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at any part of it
  body: any
  status?: number
  isError?: boolean
  headers?: Record<string, string | string[] | undefined>
}

/** A state in which a call is refused with one code, and the way out of it. */
interface Dilemma {
  /** The call that is refused; after the steps it is answered, unless `further` is called in its place. */
  call(): Promise<Answer>
  /** Takes a step of the refusal, with the arguments that it names. Default: not at all, for there are none. */
  take?(tool: string, input: Input): Promise<Answer>
  /** By tool: the arguments that a step says its caller has to add. */
  fill?: Record<string, Input>
  /** By tool: why a step leads on though it is refused here. */
  refused?: Record<string, string>
  /** What has to happen in the world: time, a payment, a person. */
  meanwhile?(): Promise<unknown> | unknown
  /** The call as it is corrected by what the refusal says. */
  further?(): Promise<Answer>
}

/** Provokes a code, and gives what is left to be done. */
export type Row = () => Promise<Dilemma>

const isRefused = ({ isError, status }: Answer) => isError ?? status! >= 400

/** Is refused with the code, takes every step that the refusal offers, and gets further than before. */
export async function walk(code: keyof typeof errors, row: Row): Promise<void> {
  const { call, take, fill = {}, refused = {}, meanwhile, further = call } = await row()
  const first = await call()
  expect(first.body, JSON.stringify(first.body)).toMatchObject({ code })
  expect(first.body.message).not.toBe('')
  expect(first.body.fix).toMatch(/\.$/)
  const isLater = [429, 503].includes(errors[code].status)
  expect(Number.isInteger(first.body.retry_after)).toBe(isLater)
  if (isLater && first.headers) expect(first.headers['retry-after']).toBe(String(first.body.retry_after))
  const steps = first.body.next_steps as NextStep[]
  if (steps.length > 0) expect(take, `${code} has steps`).toBeDefined()
  for (const { tool, arguments: given = {} } of steps) {
    const answer = await take!(tool, { ...given, ...fill[tool] })
    const said = `${code} > ${tool} ${JSON.stringify(given)}: ${JSON.stringify(answer.body).slice(0, 300)}`
    if (refused[tool] === undefined) expect(isRefused(answer), said).toBe(false)
  }
  await meanwhile?.()
  const after = await further()
  expect(isRefused(after), `${code}, after its steps: ${JSON.stringify(after.body)}`).toBe(false)
}
