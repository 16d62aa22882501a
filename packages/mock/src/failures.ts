import type { ErrorCode } from '@coinrack/contract/errors.ts'
import { Refusal } from './refusal.ts'

/** One way in which a call goes wrong. */
export type Failure =
  | { kind: 'refusal'; refusal: Refusal }
  /** What something between here and the service answers in its place. */
  | { kind: 'answer'; status: number; text: string }
  /** `before`: nothing was done. `after`: it was done, and the answer was lost. `middle`: the answer broke off. */
  | { kind: 'cut'; when: 'before' | 'after' | 'middle' }

/** What goes wrong with a service, as it was seen; `test/mock.test.ts` of Coinrack compares the refusals with those of a service. */
export const failures = {
  /** Any refusal of the contract, with the fields that it has beside its message. */
  refusal: (
    code: ErrorCode,
    fields: Record<string, unknown> = {},
    message = `Refused: ${code}`,
  ): Failure => ({
    kind: 'refusal',
    refusal: new Refusal(code, message, fields),
  }),
  /** 402: the balance does not cover it. */
  noCredit: (required = '1.00'): Failure =>
    failures.refusal(
      'insufficient_balance',
      {
        ...{ required, balance: '0.00', shortfall: required, currency: 'USD' },
        ...{ paid_from_balance: false, owed: '0.00' },
      },
      `The balance is 0.00 USD; this needs ${required} USD`,
    ),
  /** 429, with the seconds to wait. */
  rateLimited: (retry_after = 60): Failure =>
    failures.refusal('rate_limited', { retry_after }, 'Too many requests'),
  /** 503: no host has room. */
  soldOut: (retry_after = 60): Failure =>
    failures.refusal('capacity', { retry_after }, 'No host has room for it now'),
  /** 503: nothing was done. */
  overloaded: (retry_after = 5): Failure => failures.refusal('overloaded', { retry_after }, 'Too much to do'),
  /** The service cannot be reached. */
  unreachable: (): Failure => ({ kind: 'cut', when: 'before' }),
  /** It was done, and its answer was lost: a repeated write has to have the effect of one. */
  answerLost: (): Failure => ({ kind: 'cut', when: 'after' }),
  /** The answer, or the stream, breaks off in its middle. */
  cutInTheMiddle: (): Failure => ({ kind: 'cut', when: 'middle' }),
  /** A gateway that gets no answer of the service. */
  badGateway: (): Failure => ({ kind: 'answer', status: 502, text: '<html>502 Bad Gateway</html>' }),
}
