import type { WalletAccounts } from '../seams.ts'
import { createAccount } from './create-account.ts'
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
}
