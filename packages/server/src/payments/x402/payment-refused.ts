import type { Operations } from '@coinrack/contract/index.ts'
import type { DeclaredError } from '@coinrack/contract/operation.ts'

type Code = DeclaredError<Operations['topupBalance']>

/** A payment that is not taken: nothing was charged. */
export class PaymentRefused extends Error {
  override readonly name = 'PaymentRefused'
  readonly code: Code

  constructor(code: Code, message: string) {
    super(message)
    this.code = code
  }
}
