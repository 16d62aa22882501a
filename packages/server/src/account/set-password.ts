import type { Handler } from '../handler.ts'
import { accountById, accountView, setPasswordHash } from './account-store.ts'
import { hashPassword, verifyPassword } from './password.ts'

const RECENT_MS = 600_000

export const setPassword: Handler<'setPassword'> = async ({ input, caller, db, services, fail }) => {
  const now = services.clock.now()
  const account = await accountById(db, caller.accountId)
  const recent = now.getTime() - caller.authenticatedAt.getTime() <= RECENT_MS
  if (account.password_hash !== null && !recent) {
    const good = await verifyPassword(input.current_password ?? '', account.password_hash)
    if (!good) throw fail('invalid_credentials', 'current_password is needed, and it is not this one')
  }
  await setPasswordHash(db, account.id, await hashPassword(input.password, services.random))
  if (input.revoke_others) {
    await db.query(
      'update token set revoked_at = $3 where account_id = $1 and id <> $2 and revoked_at is null',
      [account.id, caller.tokenId, now],
    )
  }
  return { account: accountView(await accountById(db, account.id)) }
}
