import type { Page } from '@coinrack/contract/operation.ts'
import type { Reply } from './exchange.ts'

/** The `cursor` of the next page, from the Link header (RFC 8288); undefined when this was the last. */
export function nextCursor({ headers }: Reply): string | undefined {
  const target = /<([^>]*)>;\s*rel="next"/.exec(headers.get('link') ?? '')?.[1]
  const origin = 'http://localhost'
  if (target === undefined || !URL.canParse(target, origin)) return undefined
  return new URL(target, origin).searchParams.get('cursor') || undefined
}

/** Every item of a list, page after page, fetched as they are asked for. */
export async function* allItems<T>(
  fetchPage: (cursor: string | undefined) => Promise<Page<T>>,
): AsyncGenerator<T, void> {
  let cursor: string | undefined
  do {
    const page = await fetchPage(cursor)
    yield* page.items
    cursor = page.nextCursor
  } while (cursor !== undefined)
}
