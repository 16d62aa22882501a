import type { Adapter, AdapterPayload } from 'oidc-provider'
import { inTransaction } from '../../database/transaction.ts'
import { sha256 } from '../../platform/sealer.ts'
import type { Services } from '../../platform/services.ts'
import { revokeTree } from '../token-store.ts'
import { refuseRedirects } from './application-metadata.ts'
import { errors } from './oidc-provider.ts'
import {
  boundClients,
  consumeState,
  deleteState,
  deleteStatesOfGrant,
  extendClient,
  extendGrant,
  findState,
  keepState,
} from './state-store.ts'
import { writeLater } from './unit-of-work.ts'

const DAY_MS = 86_400_000
/** How long an application that registered is kept while nobody has let it in, and after it was used last. */
const UNUSED_MS = DAY_MS
const USED_MS = 365 * DAY_MS
const MOST_CLIENTS = 10_000
/** Days after which a person has to let an application in again. */
const MOST_GRANT_DAYS = 365

/** A code or a refresh token that was used before: somebody else may have it, so its grant ends. */
export class UsedTwice extends errors.InvalidGrant {
  constructor() {
    super('used before')
  }
}

/**
 * Where the authorization server keeps its state: the database, so that every replica has it. What a request writes is
 * gathered (`unit-of-work.ts`). Browsers have no session here: each request for access is proven anew.
 */
export function stateAdapter(services: Services, model: string): Adapter {
  const { db, clock, sealer } = services
  const context = `oauth:${model}`
  const at = (id: string) => ({ model, hash: sha256(id), now: clock.now() })
  const from = (ms: number) => new Date(clock.now().getTime() + ms)
  if (model === 'Session') return noSessions

  return {
    async find(id) {
      const row = await findState(db, at(id))
      if (!row) return undefined
      const payload: AdapterPayload = JSON.parse(sealer.open(row.payload, context))
      return row.consumed_at
        ? { ...payload, consumed: Math.floor(row.consumed_at.getTime() / 1000) }
        : payload
    },
    async upsert(id, payload, expiresIn) {
      const { hash } = at(id)
      const isClient = model === 'Client'
      if (isClient) refuseRedirects(payload.redirect_uris ?? [])
      const tokenId = model === 'Grant' ? id : (payload.grantId ?? null)
      const sealed = sealer.seal(JSON.stringify(payload), context)
      const expiresAt = from(expiresIn === undefined ? UNUSED_MS : expiresIn * 1000)
      const { clientId } = payload
      writeLater(async (tx) => {
        await keepState(tx, { model, hash, payload: sealed, tokenId, expiresAt })
        if (isClient) await boundClients(tx, MOST_CLIENTS)
        if (model !== 'AccessToken' && model !== 'RefreshToken') return
        await extendGrant(tx, tokenId!, { until: expiresAt, most: MOST_GRANT_DAYS })
        if (clientId) await extendClient(tx, sha256(clientId), from(USED_MS))
      })
    },
    async consume(id) {
      const state = at(id)
      writeLater(async (tx) => {
        if (!(await consumeState(tx, state))) throw new UsedTwice()
      })
    },
    async destroy(id) {
      const { hash, now } = at(id)
      writeLater(async (tx) => {
        if (model === 'Grant') await revokeTree(tx, id, now)
        await deleteState(tx, model, hash)
      })
    },
    async revokeByGrantId(grantId) {
      writeLater((tx) => deleteStatesOfGrant(tx, model, grantId))
    },
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
  }
}

/** Ends a grant, whose code or refresh token was used twice at the same moment. */
export async function endGrant({ db, clock }: Services, tokenId: string): Promise<void> {
  await inTransaction(db, (tx) => revokeTree(tx, tokenId, clock.now()))
}

const noSessions: Adapter = {
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  upsert: async () => {},
  consume: async () => {},
  destroy: async () => {},
  revokeByGrantId: async () => {},
}
