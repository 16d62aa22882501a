import type { Hex } from 'viem'
import { walletThatSigned } from '../../chain/wallet-that-signed.ts'
import type { Transaction } from '../../database/transaction.ts'
import { OperationError } from '../../platform/errors.ts'
import { sha256 } from '../../platform/sealer.ts'
import type { Services } from '../../platform/services.ts'
import type { Wallet } from '../../platform/slice-ports.ts'
import { type AccountRow, accountByEmail, accountById } from '../account-store.ts'
import { checkLoginCode } from '../check-login-code.ts'
import { createAccount } from '../create-account.ts'
import { judgeEmail } from '../email-policy.ts'
import { proveMailbox } from '../first-proof.ts'
import { walletAccounts } from '../wallet-accounts.ts'
import { readWalletMessage, type WalletMessage } from '../wallet-message.ts'
import { useMessage } from '../wallet-store.ts'

const REFUSED_CODE = 'The code is wrong, used or expired'

/**
 * The account of a mailbox, proven by a code from it; made when there is none.
 * @throws OperationError `invalid_code`: it has counted as a try, so the transaction has to be committed then too
 */
export async function proveByCode(
  tx: Transaction,
  services: Services,
  given: { email: string; code: string; client: string },
): Promise<AccountRow> {
  const verdict = judgeEmail(given.email, services.config.reservedDomains)
  if ('refused' in verdict) throw new OperationError('invalid_code', REFUSED_CODE)
  const { email } = verdict
  if (!(await checkLoginCode(tx, services, { ...given, email })))
    throw new OperationError('invalid_code', REFUSED_CODE, { keepEffects: true })
  const account = await accountByEmail(tx, email)
  if (!account) {
    const created = await createAccount(tx, services, { email, emailVerifiedAt: services.clock.now() })
    if (!created) throw new OperationError('invalid_code', REFUSED_CODE)
    return created
  }
  await proveMailbox(tx, services, account)
  return accountById(tx, account.id)
}

const REFUSED_MESSAGE =
  'The message is not one of this service, is over, was used, or is not signed by its wallet'

/** A message of this service with the wallet that signed it. */
export interface SignedMessage {
  message: WalletMessage
  wallet: Wallet
}

/**
 * Reads a signed message. For a contract wallet its chain is asked, so this comes before the transaction.
 * @throws OperationError `invalid_wallet_login`; ChainUnavailableError
 */
export async function readSignedMessage(
  services: Services,
  { text, signature }: { text: string; signature: string },
): Promise<SignedMessage> {
  const message = readWalletMessage(services, text)
  const chain = services.chains.find(({ settings }) => settings.chainId === message?.chainId)
  if (!message || message.expiresAt <= services.clock.now() || !chain)
    throw new OperationError('invalid_wallet_login', REFUSED_MESSAGE)
  const wallet = await walletThatSigned(chain, {
    address: message.address,
    message: text,
    signature: signature as Hex,
  })
  if (!wallet) throw new OperationError('invalid_wallet_login', REFUSED_MESSAGE)
  return { message, wallet }
}

/**
 * The account of a wallet, proven by a message that it signed and that is used up by it; made when there is none.
 * @throws OperationError `invalid_wallet_login`
 */
export async function proveByWallet(
  tx: Transaction,
  services: Services,
  { message, wallet }: SignedMessage,
): Promise<AccountRow> {
  const { expiresAt, nonce } = message
  const now = services.clock.now()
  if (expiresAt <= now || !(await useMessage(tx, { nonceHash: sha256(nonce), expiresAt, now })))
    throw new OperationError('invalid_wallet_login', REFUSED_MESSAGE)
  return accountById(tx, await walletAccounts.ensure(tx, services, wallet))
}
