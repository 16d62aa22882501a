import type { Operations } from '@coinrack/contract/index.ts'
import type { DeclaredError } from '@coinrack/contract/operation.ts'
import type { AuthorizedTransfer } from '../../chain/gas-wallet.ts'
import type { X402Payment } from './payment-store.ts'

type Code = DeclaredError<Operations['topupBalance']>

/** A payment that is not taken. `whatCame` tells whether the chain took it nevertheless. */
export class PaymentRefused extends Error {
  override readonly name = 'PaymentRefused'
  readonly code: Code
  /** For `payment_arrived` and `payment_pending`: the stored payment that the refusal is about. */
  readonly told: X402Payment | undefined
  /** For a payment that does not match the terms: the signed transfer and its chain. */
  readonly signed: { chainId: number; transfer: AuthorizedTransfer } | undefined

  constructor(
    code: Code,
    message: string,
    about: { told?: X402Payment; signed?: { chainId: number; transfer: AuthorizedTransfer } } = {},
  ) {
    super(message)
    this.code = code
    this.told = about.told
    this.signed = about.signed
  }
}
