import type { Hex } from 'viem'
import { expect } from 'vitest'
import type { ChainSettings, Network } from '../chain/chain-settings.ts'
import { confirmationPolicies } from '../chain/confirmation-policy.ts'
import { depositSalt } from '../chain/deposit-address.ts'
import { forwarderFactoryAddress } from '../chain/forwarder-factory.ts'
import { openGasWallet } from '../chain/gas-wallet.ts'
import { viemChain } from '../chain/viem-chain.ts'
import { inTransaction } from '../database/transaction.ts'
import { readBalance } from '../ledger/balance.ts'
import { startTestService } from '../process/testing.ts'
import { ensureAccountAddress } from './deposit-address-store.ts'
import type { Deposit } from './deposit-store.ts'
import { depositWatcher } from './watch-deposits.ts'

/** micro-USD */
export const usd = (dollars: number) => BigInt(Math.round(dollars * 1_000_000))

const token = (symbol: 'USDC' | 'USDT', digit: string) => ({
  symbol,
  address: `0x${digit.repeat(40)}` as const,
  decimals: 6 as const,
})
/** The settings of a chain that exists only as a fake. */
export const fakeSettings = (chainId: number, network: Network): ChainSettings => ({
  chainId,
  network,
  rpcUrls: [],
  startBlock: 0,
  tokens: [token('USDC', '1'), token('USDT', '2')],
  treasury: '0x52908400098527886E0F7030069857D2E4169EE7',
  confirmation: confirmationPolicies[network],
  pollMs: 1000,
})

export type PaymentsWorld = Awaited<ReturnType<typeof paymentsWorld>>
export type Customer = Awaited<ReturnType<PaymentsWorld['customer']>>

/**
 * The service with these chains, and helpers for tests of payments.
 * @param x402Key the key of the account that pays the gas of payments by x402; without it none are taken
 */
export async function paymentsWorld(
  settings: ChainSettings[],
  env: Record<string, string> = {},
  x402Key?: Hex,
) {
  const chains = await Promise.all(
    settings.map(async (chain) => ({
      settings: chain,
      port: viemChain(chain),
      gasWallet: x402Key && (await openGasWallet(chain, x402Key)),
    })),
  )
  const service = await startTestService({ chains, env })
  const { services } = service
  const watchers = services.chains.map((chain) => depositWatcher(services, chain))
  const secret = Buffer.from(services.config.depositSecret!)

  return {
    ...service,
    factory: forwarderFactoryAddress(settings[0]!.treasury),
    saltOf: (counter: bigint) => depositSalt(secret, counter),

    async customer() {
      const customer = await service.customer()
      const { accountId, token } = customer
      return {
        ...customer,
        balance: () => readBalance(services.db, accountId),
        /** The customer's own deposit address. */
        async address() {
          await inTransaction(services.db, (tx) => ensureAccountAddress(tx, services, accountId))
          const { rows } = await services.db.query<{ address: `0x${string}` }>(
            'select address from deposit_address where account_id = $1 and invoice_id is null',
            [accountId],
          )
          return rows[0]!.address
        },
        get: (path: string) => service.ask('GET', path, { token }),
        post: (path: string, body: unknown = {}, headers: Record<string, string> = {}) =>
          service.ask('POST', path, { token, body, headers }),
      }
    },

    /** Looks at all chains once. */
    async look() {
      await Promise.all(watchers.map((watch) => watch()))
    },

    /** Looks at all chains until no deposit is pending; the watcher itself mines the blocks that it waits for. */
    async settle() {
      for (let round = 0; round < 12; round++) await this.look()
    },

    async deposits(accountId?: string): Promise<Deposit[]> {
      const { rows } = await services.db.query<Deposit>(
        'select * from deposit where $1::text is null or account_id = $1 order by seen_at, id',
        [accountId ?? null],
      )
      return rows
    },

    /** Asserts that every transaction sums to zero, and that each customer's balances are the sums of their entries. */
    async expectBooksToBalance() {
      const { rows: unbalanced } = await services.db.query(
        'select transaction_id from ledger_entry group by 1 having sum(amount) <> 0',
      )
      expect(unbalanced).toEqual([])
      const { rows: wrong } = await services.db.query(
        `select account_id from customer_balance
         left join (
           select account_id,
             sum(amount) filter (where ledger_account = 'customer.available') as available,
             sum(amount) filter (where ledger_account = 'customer.owed') as owed
           from ledger_entry join ledger_transaction on ledger_transaction.id = transaction_id group by 1
         ) entries using (account_id)
         where customer_balance.available <> coalesce(entries.available, 0)
           or customer_balance.owed <> coalesce(entries.owed, 0)`,
      )
      expect(wrong).toEqual([])
    },
  }
}
