import type { TokenRow } from './token-store.ts'

/**
 * Whether a token comes from a login, a registration or a code: it stands above every other token of the account. A grant
 * stands as high in its lineage, but above nothing.
 */
export const isOfLogin = ({ lineage, kind }: Pick<TokenRow, 'lineage' | 'kind'>) =>
  lineage.length === 1 && kind === 'plain'

/** Whether a token may see and end another one of its account: itself and those below it. */
export const mayManage = (own: Pick<TokenRow, 'id' | 'lineage' | 'kind'>, token: Pick<TokenRow, 'lineage'>) =>
  isOfLogin(own) || token.lineage.includes(own.id)
