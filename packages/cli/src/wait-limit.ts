import type { Terminal } from './terminal.ts'

/** It was waited as long as `--timeout` says. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

/** A signal that fires when the command is interrupted, or after so many seconds. */
export function waitLimit(
  { signal }: Terminal,
  seconds: number | undefined,
): { signal: AbortSignal; clear(): void } {
  if (seconds === undefined) return { signal, clear() {} }
  const over = new AbortController()
  const timer = setTimeout(
    () => over.abort(new TimeoutError(`It was not so after ${seconds} seconds`)),
    seconds * 1000,
  )
  return { signal: AbortSignal.any([signal, over.signal]), clear: () => clearTimeout(timer) }
}
