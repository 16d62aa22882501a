import { scopes } from '@coinrack/contract/tokens.ts'
import type { WalletAccounts } from '../platform/slice-ports.ts'
import { accountById } from './account-store.ts'
import { createAccount } from './create-account.ts'
import { openSession } from './open-session.ts'
import { revokeTree } from './token-store.ts'
import { accountOfWallet, insertWallet, lockWallet } from './wallet-store.ts'

/** The accounts of wallets, for payments that come without a token. */
export const walletAccounts: WalletAccounts = {
  find: accountOfWallet,
  async ensure(tx, services, wallet) {
    const known = await accountOfWallet(tx, wallet)
    if (known !== undefined) return known
    await lockWallet(tx, wallet)
    const meanwhile = await accountOfWallet(tx, wallet)
    if (meanwhile !== undefined) return meanwhile
    const account = await createAccount(tx, services, { email: null })
    await insertWallet(tx, account!.id, wallet, services.clock.now())
    return account!.id
  },
  async openSession(tx, services, accountId, client) {
    const authenticatedAt = new Date(0)
    const account = await accountById(tx, accountId)
    const session = await openSession(tx, services, account, client, { authenticatedAt })
    const { tokenId, token, token_expires_at: expiresAt } = session
    const caller = {
      accountId,
      tokenId,
      kind: 'plain' as const,
      lineage: [tokenId],
      scopes: [...scopes],
      authenticatedAt,
      expiresAt,
    }
    return {
      token,
      caller: { ...caller, provenAt: undefined, suspended: false, balanceRunsOutAt: undefined },
    }
  },
  async endSession(tx, { clock }, tokenId) {
    await revokeTree(tx, tokenId, clock.now())
  },
}
