import { OperationError } from '../platform/errors.ts'

/** Statuses of calls that were wrong in themselves or out of place, and so did nothing. */
const REFUSED = [403, 404, 409, 422]

/** Whether a call was refused without an effect, so that it does not use up the limit of what it asked for. */
export const isPlainRefusal = (error: unknown) =>
  error instanceof OperationError && REFUSED.includes(error.status) && !error.options.keepEffects
