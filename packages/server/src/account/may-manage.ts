import type { TokenRow } from './token-store.ts'

/** Whether a token comes from a login, a registration or a code: it stands above every other token of the account. */
export const isOfLogin = ({ lineage }: Pick<TokenRow, 'lineage'>) => lineage.length === 1

/** Whether a token may see and end another one of its account: itself and those below it. */
export const mayManage = (own: Pick<TokenRow, 'id' | 'lineage'>, token: Pick<TokenRow, 'lineage'>) =>
  isOfLogin(own) || token.lineage.includes(own.id)
