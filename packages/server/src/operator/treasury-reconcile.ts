import { formatUsd } from '@coinrack/contract/wire.ts'
import { demandProvenBackup } from './backup/proven-backup.ts'
import type { Command } from './command.ts'
import { table } from './table.ts'
import { type ReconciledChain, reconcileChain } from './treasury/reconcile-chain.ts'

const sumColumns = [
  'network',
  'token',
  'ledger',
  'credited',
  'waiting',
  'at_addresses',
  'flushed',
  'treasury',
  'difference',
] as const
const differenceColumns = ['network', 'token', 'account_id', 'address', 'amount', 'explanation'] as const

export const treasuryReconcile: Command = {
  name: 'treasury reconcile',
  arguments: '',
  summary:
    'Compares the ledger, the deposits and what the chains show at addresses and in the treasury; names every difference',
  takes: 0,
  async run(operator) {
    await demandProvenBackup(operator)
    const chains: ReconciledChain[] = []
    const unseen: string[] = []
    for (const settings of await operator.installed.chains()) {
      const chain = await reconcileChain(operator, settings)
      if (chain) chains.push(chain)
      else unseen.push(settings.network)
    }
    const sums = chains.flatMap(({ network, sums }) =>
      sums.map(({ token, ...amounts }) => ({ network, token, ...inUsd(amounts) })),
    )
    const differences = chains.flatMap(({ network, differences }) =>
      differences.map((one) => ({ network, ...one, amount: formatExactly(one.amount) })),
    )
    const blocks = Object.fromEntries(chains.map(({ network, block }) => [network, block]))
    const parts = [
      table(sumColumns, sums),
      differences.length > 0 && table(differenceColumns, differences.map(withAddress)),
      unseen.length > 0 && `Never looked at by the service: ${unseen.join(', ')}`,
      differences.length > 0 ? `${differences.length} differences` : 'Everything agrees, to the micro-dollar',
    ]
    return {
      json: { blocks, sums, differences, never_looked_at: unseen },
      text: parts.filter(Boolean).join('\n\n'),
      isAmiss: differences.length > 0,
    }
  },
}

const withAddress = <T extends { address?: string }>(difference: T) => ({ address: undefined, ...difference })

/** All six places, so that nothing hides behind a rounding. */
function formatExactly(amount: bigint): string {
  const [whole, fraction = ''] = formatUsd(amount).split('.')
  return `${whole}.${fraction.padEnd(6, '0')}`
}

const inUsd = <K extends string>(amounts: Record<K, bigint>) =>
  Object.fromEntries(
    Object.entries<bigint>(amounts).map(([name, amount]) => [name, formatExactly(amount)]),
  ) as Record<K, string>
