import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatUsd } from '@coinrack/contract/wire.ts'
import { minedReceipt } from '@coinrack/server/chain/mined-receipt.ts'
import { startTestChains, testWallet } from '@coinrack/server/chain/testing.ts'
import { type Customer, paymentsWorld } from '@coinrack/server/payments/testing.ts'
import { type Address, concat, type Hex, keccak256, numberToHex, pad, parseAbiItem } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { chances } from './chances.ts'
import { type Fault, failures, faultyEndpoint, lies } from './faulty-endpoint.ts'

const PAYERS = 6
const CUSTOMERS = 4
const STEPS = 24
/** Enough for all promises of the chain, and for the blocks that are read once more. */
const HEAL_BLOCKS = 90
const HEALED_MS = 60_000
const junk = 'test test test test test test test test test test test junk'
const fees = {
  type: 'eip1559',
  gas: 600_000n,
  maxFeePerGas: 10n ** 11n,
  maxPriorityFeePerGas: 10n ** 9n,
} as const
const transferred = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

/**
 * A contract that pays: each 64 bytes of a call are a recipient and an amount. It puts `transfer(address,uint256)` before
 * them and calls the token, until there are no more.
 */
const payerCode = (token: Address): Hex =>
  concat([
    '0x60458060' as Hex,
    '0x0b6000396000f3',
    '0x63a9059cbb60e01b6000526000',
    '0x5b803611156043576040816004376000600060446000600073',
    token,
    '0x5af150604001600d565b00',
  ])

export type Histories = Awaited<ReturnType<typeof openHistories>>

/** A chain of one real node, seen through two faulty endpoints, and customers who are paid on it. */
export async function openHistories() {
  const demo = await startTestChains()
  const [chain] = demo.chains
  const nodeUrl = chain!.rpcUrls[0]!
  let numbers = chances(0)
  const chance = (): number => numbers.next().value!
  const wallet = testWallet(chain!, demo.demo.faucet_key)
  const { client } = wallet
  const usdc = chain!.tokens[0]!.address
  const payers = Array.from({ length: PAYERS }, (_, index) =>
    mnemonicToAccount(junk, { addressIndex: index + 2 }),
  )
  const hash = await client.sendTransaction({ data: payerCode(usdc), chain: null })
  const payer = (await minedReceipt(client, hash)).contractAddress!
  await wallet.pay('USDC', payer, 10n ** 14n)

  let customers: { customer: Customer; address: Address; invoice: string; amount: bigint }[] = []
  const victim = () => customers[Math.floor(chance() * customers.length)]!.address
  const endpoints = [
    await faultyEndpoint(nodeUrl, chance, victim),
    await faultyEndpoint(nodeUrl, chance, victim),
  ]
  // Not the local chain of a demo: nothing makes blocks but the history.
  const settings = { ...chain!, demo: false, pollMs: 100, rpcUrls: endpoints.map(({ url }) => url) }
  const world = await paymentsWorld([settings])
  const databaseUrl = world.services.db.options.connectionString

  let service: ChildProcess | undefined
  let sent: { raw: Hex; from: Address }[] = []

  async function start(): Promise<void> {
    const about = JSON.stringify({ databaseUrl, settings, now: world.clock.now() }, (_key, value) =>
      typeof value === 'bigint' ? `${value}n` : value,
    )
    service = fork(join(import.meta.dirname, 'payments-process.ts'), [about])
    const ended = once(service, 'exit').then(([code, signal]) => {
      throw new Error(`The service ended with ${code ?? signal} before it was there`)
    })
    await Promise.race([once(service, 'message'), ended])
    ended.catch(() => {})
  }
  async function kill(): Promise<void> {
    if (!service || service.exitCode !== null || service.signalCode !== null) return
    service.kill('SIGKILL')
    await once(service, 'exit')
  }

  /** One change of the chain at a time: a look can be interrupted by a reorganisation while something is paid. */
  let turn: Promise<unknown> = Promise.resolve()
  function inTurn(change: () => Promise<unknown>): Promise<unknown> {
    const changed = turn.then(change)
    turn = changed.catch(() => {})
    return changed
  }

  const pick = <T>(of: readonly T[]): T => of[Math.floor(chance() * of.length)]!
  const upTo = (most: number) => 1 + Math.floor(chance() * most)
  const mine = (blocks: number) =>
    client.request({ method: 'anvil_mine' as never, params: [numberToHex(blocks)] as never })

  /** One transaction that pays between one and four times, also the same to the same. */
  async function pay(): Promise<void> {
    const payments = Array.from({ length: upTo(4) }, () => ({
      to: pick(customers).address,
      amount: BigInt(pick([1, 5, 5, 12, 40, 99, 120, 700])) * 1_000_000n,
    }))
    const account = pick(payers)
    const nonce = await client.getTransactionCount({ address: account.address })
    const data = concat(payments.flatMap(({ to, amount }) => [pad(to), numberToHex(amount, { size: 32 })]))
    const raw = await account.signTransaction({ ...fees, chainId: settings.chainId, nonce, to: payer, data })
    const hash = await client.sendRawTransaction({ serializedTransaction: raw })
    await minedReceipt(client, hash)
    sent.push({ raw, from: account.address })
  }

  /**
   * Replaces the newest blocks: their transactions come again in the first of the new ones, in another order, or never.
   * Those of one payer keep their order, and after one that is lost none comes.
   */
  async function reorganise(): Promise<void> {
    const head = Number(await client.getBlockNumber({ cacheTime: 0 }))
    const depth = Math.min(upTo(12), head - 1)
    const replaced: typeof sent = []
    for (const transaction of sent.slice(-20)) {
      const receipt = await client
        .getTransactionReceipt({ hash: keccak256(transaction.raw) })
        .catch(() => undefined)
      if (receipt && Number(receipt.blockNumber) > head - depth) replaced.push(transaction)
    }
    const lost = new Set<Address>()
    const kept = replaced.filter(({ from }) => {
      if (chance() < 0.3) lost.add(from)
      return !lost.has(from)
    })
    const byPayer = [...Map.groupBy(kept, ({ from }) => from).values()]
    if (chance() < 0.5) byPayer.reverse()
    const pairs = byPayer.flat().map(({ raw }) => [raw, 0])
    await client.request({ method: 'anvil_reorg' as never, params: [depth, pairs] as never })
    await client.request({ method: 'anvil_dropAllTransactions' as never })
    sent = sent.filter((transaction) => !replaced.includes(transaction) || kept.includes(transaction))
  }

  /** In each history one endpoint may lie, and always in the same way. */
  let liar = endpoints[0]!
  let lie: Fault | undefined

  /** The liar lies or does not, the other one fails or does not; and the service sees something of it. */
  async function change(): Promise<void> {
    const honest = endpoints.find((endpoint) => endpoint !== liar)!
    await liar.become(chance() < 0.75 ? lie : pick<Fault | undefined>([...failures, undefined]))
    await honest.become(chance() < 0.3 ? pick<Fault>(failures) : undefined)
    await sleep(300)
  }

  const steps: { name: string; weight: number; take: () => Promise<unknown> }[] = [
    { name: 'pay', weight: 3, take: () => inTurn(pay) },
    { name: 'mine', weight: 2, take: () => inTurn(() => mine(upTo(6))) },
    { name: 'mine many', weight: 1, take: () => inTurn(() => mine(upTo(80))) },
    { name: 'reorganise', weight: 1, take: () => inTurn(reorganise) },
    {
      name: 'reorganise within a look',
      weight: 1,
      take: async () => pick(endpoints).interrupt(upTo(12), async () => void (await inTurn(reorganise))),
    },
    { name: 'change an endpoint', weight: 2, take: change },
    { name: 'kill', weight: 1, take: () => kill().then(start) },
    { name: 'wait', weight: 2, take: () => sleep(100 * upTo(6)) },
  ]
  const weighted = steps.flatMap((step) => Array<typeof step>(step.weight).fill(step))

  /** Ends all faults, and waits until the service says no more than the chain does. */
  async function heal(): Promise<void> {
    for (const endpoint of endpoints) {
      endpoint.interrupt(Number.POSITIVE_INFINITY, async () => {})
      await endpoint.become(undefined)
    }
    await turn
    await kill()
    await start()
    const end = Date.now() + HEALED_MS
    for (;;) {
      await mine(HEAL_BLOCKS)
      const head = Number(await client.getBlockNumber({ cacheTime: 0 }))
      for (let look = 0; look < 30; look++) {
        const { rows } = await world.services.db.query<{ done: boolean }>(
          `select scanned_number >= $1 and witnessed_number >= $1 - 90
             and not exists (select from deposit where status = 'seen') as done from chain_cursor`,
          [head],
        )
        if (rows[0]?.done) return
        await sleep(100)
      }
      if (Date.now() > end) throw new Error(`Not healed: ${JSON.stringify(await world.deposits(), jsonOf)}`)
    }
  }
  const jsonOf = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)

  return {
    /**
     * Lets a random history happen, ends its faults, and compares what customers have with a recount of the chain as it is
     * then.
     */
    async run(seed: number): Promise<{ paid: bigint; deposits: number }> {
      await kill()
      numbers = chances(seed)
      sent = []
      customers = []
      liar = endpoints[chance() < 0.7 ? 0 : 1]!
      // Ten histories that follow each other are of every class.
      lie = [...lies, undefined][seed % (lies.length + 1)]
      for (let index = 0; index < CUSTOMERS; index++) {
        const customer = await world.customer()
        const dollars = pick([5, 12, 60, 150])
        const { body } = await customer.post('/balance/topup', { amount: dollars })
        const amount = BigInt(dollars) * 1_000_000n
        customers.push({ customer, address: await customer.address(), invoice: body.invoice.id, amount })
      }
      await start()
      await liar.become(lie)
      const done: string[] = [`${endpoints.indexOf(liar)} ${lie ?? 'is honest'}`]
      for (let step = 0; step < STEPS; step++) {
        const { name, take } = pick(weighted)
        await take()
        const faults = endpoints.map((endpoint) => endpoint.fault() ?? 'honest').join(', ')
        done.push(`${name} (then ${faults})`)
      }
      await heal()

      const logs = await client.getLogs({
        address: usdc,
        event: transferred,
        args: { to: customers.map(({ address }) => address) },
        fromBlock: 0n,
      })
      let paid = 0n
      for (const { customer, address, invoice, amount } of customers) {
        const own = logs.filter(({ args }) => args.to!.toLowerCase() === address.toLowerCase())
        const sum = own.reduce((total, { args }) => total + args.value!, 0n)
        paid += sum
        const { available, held, owed } = await customer.balance()
        expect({ available, held, owed }, done.join('\n')).toEqual({ available: sum, held: 0n, owed: 0n })
        const credited = (await world.deposits(customer.accountId)).filter(
          ({ status }) => status === 'credited',
        )
        const places = (rows: { tx_hash: string; log_index: number }[]) =>
          rows.map(({ tx_hash, log_index }) => `${tx_hash} ${log_index}`).sort()
        expect(places(credited), done.join('\n')).toEqual(
          places(
            own.map(({ transactionHash, logIndex }) => ({ tx_hash: transactionHash, log_index: logIndex })),
          ),
        )
        const shown = (await customer.get(`/invoices/${invoice}`)).body
        expect(shown.received, done.join('\n')).toBe(formatUsd(sum))
        if (sum >= amount) expect(shown.status, done.join('\n')).toBe('paid')
        const { rows } = await world.services.db.query<{ sum: bigint }>(
          'select coalesce(sum(available_change), 0)::bigint as sum from ledger_transaction where account_id = $1',
          [customer.accountId],
        )
        expect(rows[0]!.sum).toBe(sum)
      }
      await world.expectBooksToBalance()
      await kill()
      return { paid, deposits: logs.length }
    },

    async close(): Promise<void> {
      await kill()
      for (const endpoint of endpoints) await endpoint.close()
      await demo.stop()
      await world.close()
    },
  }
}
