import type { Address } from 'viem'
import type { ChainSettings } from '../../chain/chain-settings.ts'
import type { Operator } from '../command.ts'
import { agreedState } from './agreed-state.ts'
import type { Waiting } from './plan-flush.ts'

type Place = Pick<Waiting, 'address' | 'counter'>

/**
 * The amounts at the deposit addresses of a chain now: of each accepted token where a deposit of it was seen, and of
 * the chain's own coin where that is asked for.
 */
export async function readWaiting(
  operator: Operator,
  settings: ChainSettings,
  { withCoin }: { withCoin: boolean },
): Promise<Waiting[]> {
  const { chainId, network, tokens } = settings
  const db = await operator.db()
  const paid = await db.query<Place & { token_address: string }>(
    `select distinct address, counter, token_address
     from deposit join deposit_address using (address)
     where chain_id = $1 and status <> 'orphaned' order by counter, token_address`,
    [chainId],
  )
  const state = agreedState(settings, undefined, (read, of) =>
    operator.say(`${network}: ${read} of ${of} balances read`),
  )
  const accepted = new Map(tokens.map((token) => [token.address.toLowerCase(), token]))
  const places = paid.rows.flatMap(({ token_address, ...place }) => {
    const token = accepted.get(token_address)
    return token ? [{ ...place, token: { symbol: token.symbol, address: token_address } }] : []
  })
  const amounts = await state.tokens(
    places.map(({ token, address }) => ({ token: token.address as Address, owner: address as Address })),
  )
  const waiting: Waiting[] = places.map((place, index) => ({ ...place, amount: amounts[index]! }))
  if (withCoin) {
    const { rows } = await db.query<Place>('select address, counter from deposit_address order by counter')
    const coins = await state.coins(rows.map(({ address }) => address as Address))
    waiting.push(...rows.map((place, index) => ({ ...place, amount: coins[index]! })))
  }
  return waiting.filter(({ amount }) => amount > 0n)
}
