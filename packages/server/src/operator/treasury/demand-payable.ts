import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Address, Hex } from 'viem'
import type { ChainSettings } from '../../chain/chain-settings.ts'
import { viemChain } from '../../chain/viem-chain.ts'
import { findPayee } from '../../payments/refunds/find-payee.ts'
import { OperationError } from '../../platform/errors.ts'
import { RefusedError } from '../command.ts'
import { agreedState } from './agreed-state.ts'

/**
 * Looks once more at what a refund would pay, and from what: a day has gone by since it was asked for.
 * @throws RefusedError when the recipient is refused by now, or the treasury has not enough
 */
export async function demandPayable(
  settings: ChainSettings,
  {
    token,
    token_address,
    address,
    amount,
  }: { token: string; token_address: Hex; address: Hex; amount: bigint },
): Promise<void> {
  const { network, treasury } = settings
  const chain = { settings, port: viemChain(settings) }
  const { hasCode, isRefused } = await findPayee(chain, token_address, address).catch((error) => {
    throw error instanceof OperationError ? new RefusedError(error.message) : error
  })
  if (hasCode || isRefused)
    throw new RefusedError(
      `${token} on ${network} ${hasCode ? `would be paid to a contract at ${address}` : `refuses payments to ${address}`} now: reject it`,
    )
  const [has] = await agreedState(settings).tokens([{ token: token_address as Address, owner: treasury }])
  if (has! < amount)
    throw new RefusedError(
      `The treasury has ${formatUsd(has!)} ${token} on ${network} only: bring more there with treasury flush ${network}`,
    )
}
