import type { Caller } from '../dispatch/handler.ts'

/** Whether a token sees what was asked for by any token of its account: it is of a login, and no application's. */
export const seesAll = ({ kind, lineage }: Pick<Caller, 'kind' | 'lineage'>): boolean =>
  kind === 'plain' && lineage.length === 1
