import type { Handler } from '../dispatch/handler.ts'
import { openSession } from './open-session.ts'
import { proveByCode } from './proving/prove-person.ts'
import { unconfirmedTokens } from './token-store.ts'

export const verifyLoginCode: Handler<'verifyLoginCode'> = async ({ input, client, db, services }) => {
  const account = await proveByCode(db, services, { ...input, client })
  return {
    ...(await openSession(db, services, account, client, { isProven: true })),
    unconfirmed_tokens: await unconfirmedTokens(db, account.id, services.clock.now()),
  }
}
