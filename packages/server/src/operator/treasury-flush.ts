import { formatUsd, parseUsd } from '@coinrack/contract/wire.ts'
import { formatEther, formatGwei, formatUnits, parseGwei } from 'viem'
import { demandProvenBackup } from './backup/proven-backup.ts'
import { type Command, RefusedError } from './command.ts'
import { table } from './table.ts'
import { chainNamed } from './treasury/chain-named.ts'
import { flushTransaction, movable } from './treasury/flush-transaction.ts'
import { gasOf } from './treasury/gas-of.ts'
import { planFlush, type Waiting } from './treasury/plan-flush.ts'
import { transactionJson, writeSafeBatch } from './treasury/prepared-transactions.ts'
import { readWaiting } from './treasury/read-waiting.ts'

const DEFAULT_ABOVE = '10'
/** Deploying as many forwarders and moving their money takes less than a third of what a transaction may (EIP-7825). */
const MOST_AT_ONCE = 50

export const treasuryFlush: Command = {
  name: 'treasury flush',
  arguments: '<network> [--above <usd>] [--max-gas-price <gwei>] [--coin] [--safe <file>]',
  summary:
    'Prepares the transactions that bring money from deposit addresses to the treasury, and tries each; sends nothing',
  takes: 1,
  options: {
    above: { type: 'string' },
    'max-gas-price': { type: 'string' },
    coin: { type: 'boolean' },
    safe: { type: 'string' },
  },
  async run(operator, [network], options) {
    await demandProvenBackup(operator)
    const above = parseUsd(options.above ?? DEFAULT_ABOVE)
    if (above === undefined) throw new RefusedError(`${options.above} is not an amount of US dollars`)
    const settings = await chainNamed(operator, network!)
    const most = options['max-gas-price']
    const price = await gasOf(settings).price()
    if (most !== undefined && price > priceOf(most))
      throw new RefusedError(
        `Gas costs ${formatGwei(price)} gwei on ${network} now, which is more than ${most}: nothing is planned`,
      )

    const waiting = await readWaiting(operator, settings, { withCoin: Boolean(options.coin) })
    const { can, cannot } = await movable(settings, waiting)
    const groups = planFlush(can, above, MOST_AT_ONCE)
    const secret = (await operator.installed.secrets()).deposit!
    const transactions = await Promise.all(
      groups.map(async (items) => {
        const transaction = flushTransaction(settings, secret, items)
        const gas = await gasOf(settings).estimate(transaction)
        return { items: items.length, moves: movesOf(items), gas, fee: gas * price, ...transaction }
      }),
    )
    if (options.safe && transactions.length > 0)
      await writeSafeBatch(options.safe, transactions, 'Bring deposits to the treasury', operator.clock.now())
    const left = can.length - groups.flat().length
    const notes = [
      left > 0 &&
        `${left} balances of less than ${formatUsd(above)} USD stay where they are; they go on counting`,
      ...cannot.map(({ address, reason }) => `${address} cannot be moved now: ${reason}`),
      transactions.length > 0 &&
        'Any wallet with coin for gas can send these: the money can go to the treasury only. Afterwards run treasury reconcile',
    ]
    return {
      json: {
        network,
        gas_price_wei: String(price),
        transactions: transactions.map(({ items, moves, gas, fee, ...transaction }) => ({
          ...transactionJson(transaction),
          items,
          moves,
          gas: String(gas),
          fee_wei: String(fee),
        })),
        left_for_later: left,
        cannot_be_moved: cannot.map(({ address, token, reason }) => ({
          address,
          token: token?.symbol ?? 'coin',
          reason,
        })),
      },
      text: [
        table(
          ['items', 'moves', 'gas', 'fee_in_coin'] as const,
          transactions.map(({ items, moves, gas, fee }) => ({
            items,
            moves,
            gas,
            fee_in_coin: formatEther(fee),
          })),
        ),
        ...transactions.map(({ to, data }) => `to:    ${to}\nvalue: 0\ndata:  ${data}`),
        notes.filter(Boolean).join('\n'),
      ]
        .filter(Boolean)
        .join('\n\n'),
    }
  },
}

function priceOf(gwei: string): bigint {
  if (!/^\d+(\.\d+)?$/.test(gwei)) throw new RefusedError(`${gwei} is not a gas price in gwei`)
  return parseGwei(gwei)
}

/** The sums that a transaction moves, such as `12.50 USDC, 3.00 USDT`. */
function movesOf(items: Waiting[]): string {
  const sums = new Map<string, bigint>()
  for (const { token, amount } of items)
    sums.set(token?.symbol ?? 'coin', (sums.get(token?.symbol ?? 'coin') ?? 0n) + amount)
  return [...sums]
    .map(([name, amount]) => `${name === 'coin' ? formatUnits(amount, 18) : formatUsd(amount)} ${name}`)
    .join(', ')
}
