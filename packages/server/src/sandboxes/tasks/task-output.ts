import type { CodeResult, TaskEnd } from '@coinrack/compute/ports/sandbox-channel.ts'

/** A result of code, as it stands in an answer and in an event. */
export const shownResult = ({ data, isMain }: CodeResult) => ({ data, is_main: isMain })

/** The results and the error of code, as they stand in an answer. */
export const shownEnd = (end: Partial<Pick<TaskEnd, 'results' | 'error'>>) => ({
  results: (end.results ?? []).map(shownResult),
  error: end.error ?? null,
})
