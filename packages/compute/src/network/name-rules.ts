/** Rules by name of the domain name system: `example.com` is that one, `*.example.com` all below it. */
export interface NameRules {
  /** Resolved, and reached. */
  allow: string[]
  /** Neither, unless the other list has it too. */
  deny: string[]
  /** Whether all others are resolved. */
  isOpen: boolean
}

/** In the table of a machine: where its resolver puts what names resolve to, a set for each family of addresses. */
export const ALLOWED_SETS = { ipv4: 'allowed_names', ipv6: 'allowed_names6' } as const
export const DENIED_SETS = { ipv4: 'denied_names', ipv6: 'denied_names6' } as const
const FAMILIES = ['ipv4', 'ipv6'] as const
/** The most addresses in each set. A name whose addresses find no room is not resolved. */
const MOST_ADDRESSES = 16_384
/** Beside an address stands the entry of a list that it is there by, as far as it fits. */
const COMMENT_LENGTH = 120

/** A script for `nft -f` that makes sure of the sets, and changes nothing of them. */
export const nameTable = (table: string) =>
  [
    `table inet ${table} {`,
    ...[ALLOWED_SETS, DENIED_SETS].flatMap((sets) =>
      FAMILIES.map(
        (family) => `  set ${sets[family]} { type ${family}_addr; flags timeout; size ${MOST_ADDRESSES}; }`,
      ),
    ),
    '}',
    '',
  ].join('\n')

interface NftSet {
  name: string
  elem?: ({ elem: { val: string; comment?: string } } | string)[]
}

/**
 * A script for `nft -f` that removes the addresses of entries that are in their list no more.
 * @param listing of `nft -j list table`
 */
export function forgetOthers(listing: string, table: string, { allow, deny }: NameRules): string {
  const { nftables } = JSON.parse(listing) as { nftables: { set?: NftSet }[] }
  const lists = new Map<string, string[]>(
    FAMILIES.flatMap((family) => [
      [ALLOWED_SETS[family], allow],
      [DENIED_SETS[family], deny],
    ]),
  )
  return nftables
    .flatMap(({ set }) => {
      const entries = set && lists.get(set.name)
      if (!entries) return []
      const kept = new Set(entries.map((entry) => entry.slice(-COMMENT_LENGTH)))
      return (set.elem ?? [])
        .map((one) => (typeof one === 'string' ? { val: one, comment: '' } : one.elem))
        .filter(({ comment = '' }) => !kept.has(comment))
        .map(({ val }) => ({ val, where: `inet ${table} ${set.name}` }))
    })
    .map(
      // One whose time ended meanwhile is nothing that could be deleted.
      ({ val, where }) => `add element ${where} { ${val} }\ndelete element ${where} { ${val} }\n`,
    )
    .join('')
}
