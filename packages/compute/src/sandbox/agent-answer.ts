import { SandboxError } from '../ports/sandbox-runtime.ts'

/* Parts of what an agent answers, which may be anything: each throws SandboxError `guest_failed` for what it is not. */

const misfit = (value: unknown) =>
  new SandboxError(
    'guest_failed',
    `Not what an agent answers: ${String(JSON.stringify(value)).slice(0, 200)}`,
  )

/** A number of zero or more. */
export function number(value: unknown): number {
  if (typeof value !== 'number' || !(value >= 0) || value > Number.MAX_SAFE_INTEGER) throw misfit(value)
  return value
}

export function object(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw misfit(value)
  return value as Record<string, unknown>
}

export function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw misfit(value)
  return value
}
