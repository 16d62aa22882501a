import type { ChainSettings } from '../../chain/chain-settings.ts'
import { type Operator, RefusedError } from '../command.ts'

/** @throws RefusedError when no money is taken on a network of this name */
export async function chainNamed({ installed }: Operator, network: string): Promise<ChainSettings> {
  const chains = await installed.chains()
  const chain = chains.find((one) => one.network === network)
  if (chain) return chain
  throw new RefusedError(
    `${network} is not one of the networks of this installation: ${chains.map((one) => one.network).join(', ')}`,
  )
}
