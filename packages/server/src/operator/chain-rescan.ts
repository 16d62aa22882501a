import { networks } from '@coinrack/contract/invoices.ts'
import { chainIds, type Network } from '../chain/chain-settings.ts'
import { demandRescan } from '../payments/chain-cursor-store.ts'
import { type Command, RefusedError } from './command.ts'

export const chainRescan: Command = {
  name: 'chain rescan',
  arguments: '<network> <block>',
  summary:
    'Looks through a chain again from a block on: for a token that was added later, or a payment that was missed',
  takes: 2,
  async run(operator, [network, written]) {
    if (!(networks as readonly string[]).includes(network!))
      throw new RefusedError(`${network} is not one of the networks: ${networks.join(', ')}`)
    const block = Number(written)
    if (!Number.isSafeInteger(block) || block < 1) throw new RefusedError(`${written} is not a block number`)
    const scanned = await demandRescan(await operator.db(), chainIds[network as Network], block)
    if (scanned === undefined) throw new RefusedError(`No chain ${network} was ever looked at here`)
    if (scanned < block)
      throw new RefusedError(
        `${network} is looked through up to block ${scanned} only: ${block} is still to come`,
      )
    return {
      json: { network, from: block, to: scanned },
      text: `${network} will be looked through again from block ${block} to ${scanned}; what is known stays as it is`,
    }
  },
}
