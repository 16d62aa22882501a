import type { OperationName, Operations } from '@coinrack/contract/index.ts'
import type { Output } from '@coinrack/contract/operation.ts'
import { inTransaction } from '../../database/transaction.ts'
import type { Call, Caller } from '../../dispatch/handler.ts'
import { OperationError } from '../../platform/errors.ts'
import { createSealer } from '../../platform/sealer.ts'
import type { Services } from '../../platform/services.ts'
import type { Goods } from './goods.ts'
import { lockPurchase, type PurchaseRow, setBegun } from './purchase-store.ts'

/** The buyer of a purchase, and how the call came. */
export interface Buyer {
  accountId: string
  /** Undefined for a wallet, which is given a token with the answer. */
  caller: Caller | undefined
  client: string
  key: string | undefined
  until: Call<'orderVps'>['until']
}

/** The context in which the token of a purchase is sealed. */
export const TOKEN_TEXT = 'purchase-token'

/**
 * Starts the order or sandbox that a credited payment has paid for, from the balance, once.
 * @returns the answer of the handler, and the token that was made for it; undefined when another call has started it
 * @throws OperationError when it cannot be started; then nothing was charged, and it may be tried again
 */
export async function beginPurchase<N extends OperationName>(
  services: Services,
  goods: Goods<N>,
  purchase: PurchaseRow,
  buyer: Buyer,
): Promise<{ body: Output<Operations[N]>; token: string | null; expiresAt: Date | null } | undefined> {
  const fail = (...refusal: ConstructorParameters<typeof OperationError>) => {
    throw new OperationError(...refusal)
  }
  // The types tie each handler to its own call, but here it may be either of two.
  const handler = goods.handler as unknown as AnyHandler
  const call = {
    input: goods.input,
    client: buyer.client,
    resource: undefined,
    services,
    fail,
    stream: undefined,
  }
  const prepared = await handler.prepare?.({ ...call, caller: buyer.caller, db: services.db })
  let finish: (() => Promise<Output<Operations[N]>>) | undefined
  const begun = await inTransaction(services.db, async (tx) => {
    finish = undefined
    const { order_id, sandbox_id } = await lockPurchase(tx, purchase)
    if (order_id ?? sandbox_id) return undefined
    const session = buyer.caller
      ? { caller: buyer.caller, token: null }
      : await services.walletAccounts.openSession(tx, services, buyer.accountId, buyer.client)
    const afterCommit = (wait: typeof finish) => {
      finish = wait
    }
    const { caller, token } = session
    const body = (await handler(
      { ...call, caller, db: tx, until: buyer.until, afterCommit },
      prepared,
    )) as Output<Operations[N]>
    const sealed =
      token !== null && buyer.key !== undefined
        ? createSealer(buyer.key, services.random).seal(token, TOKEN_TEXT)
        : null
    await setBegun(tx, purchase, {
      ...goods.begunBy(body),
      token_id: token === null ? null : caller.tokenId,
      token_text: sealed,
    })
    return { body, token, tokenId: caller.tokenId, expiresAt: token === null ? null : caller.expiresAt }
  })
  if (!begun || !finish) return begun
  try {
    return { ...begun, body: await finish() }
  } catch (error) {
    await giveUp(services, purchase, begun.token === null ? undefined : begun.tokenId)
    throw error
  }
}

/** Resets a purchase that failed, so that it can be started again, and revokes the token that no caller was told. */
async function giveUp(services: Services, purchase: PurchaseRow, tokenId: string | undefined): Promise<void> {
  await inTransaction(services.db, async (tx) => {
    await lockPurchase(tx, purchase)
    await setBegun(tx, purchase, { order_id: null, sandbox_id: null, token_id: null, token_text: null })
    if (tokenId !== undefined) await services.walletAccounts.endSession(tx, services, tokenId)
  })
}

interface AnyHandler {
  (call: object, prepared: unknown): Promise<unknown>
  prepare?(call: object): Promise<unknown>
}
