import type { Operations } from '@coinrack/contract/index.ts'
import type { DeclaredError } from '@coinrack/contract/operation.ts'
import type { AuthorizedTransfer } from '../../chain/gas-wallet.ts'
import type { X402Payment } from './payment-store.ts'

type Code = DeclaredError<Operations['topupBalance']>

/** A payment that is not taken. Whether the chain took it all the same, `whatCame` says. */
export class PaymentRefused extends Error {
  override readonly name = 'PaymentRefused'
  readonly code: Code
  /** With `payment_arrived` and `payment_pending`: the payment of ours that they report. */
  readonly told: X402Payment | undefined
  /** With a payment that is not what was asked for: what is signed, and on which chain. */
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
