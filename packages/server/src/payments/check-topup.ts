import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Config } from '../config/config.ts'
import { OperationError } from '../platform/errors.ts'

/** micro-USD */
const MINIMUM = 3_000_000n

/**
 * Checks that this amount can be topped up at once.
 * @param amount micro-USD
 * @throws OperationError `invalid_input`
 */
export function checkTopup({ maxTopup }: Config, amount: bigint): void {
  if (amount >= MINIMUM && amount <= maxTopup) return
  const message = `Expected at least ${formatUsd(MINIMUM)} and at most ${formatUsd(maxTopup)}`
  throw new OperationError('invalid_input', `amount: ${message}`, {
    fields: { details: [{ path: 'amount', message }] },
  })
}
