import type { TaskEnd } from '@coinrack/compute/ports/sandbox-channel.ts'

/** The results and the error of code, as they stand in an answer. */
export const shownEnd = (end: Partial<Pick<TaskEnd, 'results' | 'error'>>) => ({
  results: (end.results ?? []).map(({ data, isMain }) => ({ data, is_main: isMain })),
  error: end.error ?? null,
})
