import { copiedExample, isExampleWallet } from '../../platform/documentation-examples.ts'
import type { ErrorOptions } from '../../platform/errors.ts'

/** Refuses the address of the documentation's example, to which money would be lost. */
export function refuseExampleWallet(
  address: string,
  fail: (code: 'invalid_input', message: string, options: ErrorOptions) => never,
): void {
  if (!isExampleWallet(address)) return
  const message = copiedExample('the address', 'that of a wallet whose key you hold')
  fail('invalid_input', `address: ${message}`, { fields: { details: [{ path: 'address', message }] } })
}
