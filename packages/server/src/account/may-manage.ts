import type { Caller } from '../handler.ts'
import type { TokenRow } from './token-store.ts'

/** Of a login, a registration or a code: above every other token of the account. */
export const isOfLogin = ({ lineage }: Pick<Caller, 'lineage'>) => lineage.length === 1

/** Whether a token is the caller's own or below it. */
export const isWithin = (caller: Caller, { lineage }: Pick<TokenRow, 'lineage'>) =>
  lineage.includes(caller.tokenId)

/** Whether a caller may see and end a token of its account. */
export const mayManage = (caller: Caller, token: Pick<TokenRow, 'lineage'>) =>
  isOfLogin(caller) || isWithin(caller, token)
