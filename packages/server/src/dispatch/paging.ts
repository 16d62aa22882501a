import type { Page } from '@coinrack/contract/operation.ts'

/**
 * Cuts a page from one row more than was asked for. Identifiers sort by age, so the cursor is the last one shown.
 * @param rows at most `limit + 1`, newest first
 */
export function pageOf<T, U extends { id: string }>(rows: T[], limit: number, view: (row: T) => U): Page<U> {
  const items = rows.slice(0, limit).map(view)
  return rows.length > limit ? { items, nextCursor: items.at(-1)!.id } : { items }
}
