import { formatUsd } from '@coinrack/contract/wire.ts'
import { type Address, BaseError, encodeFunctionData, type Hex, parseAbi, zeroAddress } from 'viem'
import type { ChainSettings } from '../../chain/chain-settings.ts'
import { depositAddress, depositSalt } from '../../chain/deposit-address.ts'
import { forwarderFactoryAddress } from '../../chain/forwarder-factory.ts'
import { ForwarderFactory } from '../../chain/generated/contracts.ts'
import { RefusedError } from '../command.ts'
import { gasOf } from './gas-of.ts'
import type { Waiting } from './plan-flush.ts'
import type { PreparedTransaction } from './prepared-transactions.ts'

/** Transfers tried at the same time. */
const AT_ONCE = 20
const transfer = parseAbi(['function transfer(address to, uint256 value)'])

/** The transaction that brings these balances to the treasury, and deploys the forwarders that it needs for that. */
export function flushTransaction(
  { chainId, treasury }: ChainSettings,
  depositSecret: string,
  items: Waiting[],
): PreparedTransaction {
  const factory = forwarderFactoryAddress(treasury)
  const secret = Buffer.from(depositSecret)
  const args = items.map(({ counter, address, token }) => {
    if (depositAddress(secret, counter, factory).toLowerCase() !== address)
      throw new RefusedError(
        'The deposit secret or the treasury of the settings is not the one that deposit addresses were made with',
      )
    return { salt: depositSalt(secret, counter), token: (token?.address ?? zeroAddress) as Address }
  })
  return {
    chainId,
    to: factory,
    data: encodeFunctionData({ ...ForwarderFactory, functionName: 'flush', args: [args] }),
    does: `Bring ${items.length} balances to the treasury ${treasury}`,
  }
}

/**
 * Tries each transfer to the treasury, on the chain as it is now and without sending it: a token can be paused, and its
 * issuer can block an address.
 */
export async function movable(
  settings: ChainSettings,
  waiting: Waiting[],
): Promise<{ can: Waiting[]; cannot: (Waiting & { reason: string })[] }> {
  const { tryCall } = gasOf(settings)
  const attempt = async ({ address, token, amount }: Waiting): Promise<string | undefined> => {
    const args = [settings.treasury, amount] as const
    const from = address as Address
    const data: Hex = encodeFunctionData({ abi: transfer, functionName: 'transfer', args })
    try {
      await (token
        ? tryCall({ from, to: token.address as Address, data })
        : tryCall({ from, to: settings.treasury, value: amount }))
      return undefined
    } catch (error) {
      const message = error instanceof BaseError ? error.shortMessage : String(error)
      return `${token ? `${formatUsd(amount)} ${token.symbol}` : 'coin'}: ${message.split('\n')[0]}`
    }
  }
  const reasons: (string | undefined)[] = []
  for (let from = 0; from < waiting.length; from += AT_ONCE)
    reasons.push(...(await Promise.all(waiting.slice(from, from + AT_ONCE).map(attempt))))
  return {
    can: waiting.filter((_one, index) => reasons[index] === undefined),
    cannot: waiting.flatMap((one, index) => (reasons[index] ? [{ ...one, reason: reasons[index] }] : [])),
  }
}
