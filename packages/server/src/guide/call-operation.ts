import { unknownOperation } from '../dispatch/call-by-name.ts'
import type { Handler } from '../dispatch/handler.ts'

/** It answers only where it cannot be another operation; see `callingByName`. */
export const callOperation: Handler<'callOperation'> = async ({ input }) => {
  throw unknownOperation(input.name)
}
