import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TransferLog } from '../chain/chain-port.ts'
import { type FakeChain, fakeChain } from '../chain/fake-chain.ts'
import { fakeSettings, type PaymentsWorld, paymentsWorld, usd } from './testing.ts'
import { depositWatcher } from './watch-deposits.ts'

/*
 * One of a chain's two endpoints may report anything without money being lost or made.
 */

const base = fakeSettings(8453, 'base')

let world: PaymentsWorld
let chain: FakeChain
let watch: ReturnType<typeof depositWatcher>

beforeAll(async () => {
  world = await paymentsWorld([base])
})
afterAll(() => world.close())
beforeEach(async () => {
  await world.services.db.query('truncate deposit, chain_cursor, invoice, deposit_address cascade')
  chain = fakeChain(base)
  watch = depositWatcher(world.services, { settings: base, port: chain.port })
})

/** Grows the chain block by block, with a look after each. */
async function grow(blocks: number) {
  for (let block = 0; block < blocks; block++) {
    chain.grow(1)
    await watch()
  }
}

/** Makes one endpoint report invented transfers in all its answers, either all to one account or each to another. */
async function lie(count: number, amount: bigint, whose: 'one' | 'each') {
  const single = await world.customer()
  const victims = [single]
  for (let index = 1; index < count; index++) victims.push(whose === 'one' ? single : await world.customer())
  const invented: TransferLog[] = []
  const spam = chain.pay('USDC', base.treasury, 1n)
  for (const [index, victim] of victims.entries()) {
    const to = (await victim.address()).toLowerCase() as TransferLog['to']
    const txHash = `0x${String(index + 1).padStart(64, '0')}` as const
    invented.push({ ...spam, to, value: amount, txHash, logIndex: index + 1 })
  }
  const [liar] = chain.nodes
  liar.transfers = (transfers) =>
    transfers.some(({ txHash }) => txHash === spam.txHash) ? [...transfers, ...invented] : transfers
  liar.receipt = (receipt, txHash) => {
    const transfer = invented.find((one) => one.txHash === txHash)
    if (!transfer) return receipt
    const { blockNumber: number, blockHash: hash } = transfer
    return { succeeded: true, block: { number, hash }, transfers: [transfer] }
  }
  return [...new Set(victims)]
}

const credited = async (customers: { balance(): Promise<{ available: bigint }> }[]) => {
  const balances = await Promise.all(customers.map((customer) => customer.balance()))
  return balances.reduce((sum, { available }) => sum + available, 0n)
}

describe('an endpoint that invents deposits', () => {
  test('behavior: beside an honest one it has nothing credited, and in the end they are dropped or told of', async () => {
    const victims = await lie(10, usd(100), 'one')
    await grow(100)
    expect(await credited(victims)).toBe(0n)
    await world.expectBooksToBalance()
  })

  test('behavior: alone it is believed for the limit of an account, all deposits together', async () => {
    chain.nodes[1].isDown = true
    const victims = await lie(10, usd(40), 'one')
    await grow(100)
    expect(await credited(victims)).toBe(usd(80))
    expect((await world.deposits()).filter(({ status }) => status === 'credited')).toMatchObject([
      { witnessed: false, final: false },
      { witnessed: false, final: false },
    ])
  })

  test('behavior: alone it is believed for ten times that limit over all accounts', async () => {
    chain.nodes[1].isDown = true
    const victims = await lie(15, usd(100), 'each')
    await grow(30)
    expect(await credited(victims)).toBe(usd(1_000))
  })
})

test('behavior: a large deposit waits for the other endpoint, a small one does not, and is confirmed later', async () => {
  const customer = await world.customer()
  chain.nodes[1].isDown = true
  chain.pay('USDC', await customer.address(), usd(100))
  await grow(10)
  expect(await customer.balance()).toMatchObject({ available: usd(100) })
  chain.pay('USDC', await customer.address(), usd(5))
  await grow(100)
  expect(await customer.balance()).toMatchObject({ available: usd(100) })
  chain.nodes[1].isDown = false
  await grow(2)
  expect(await customer.balance()).toMatchObject({ available: usd(105) })
  expect(await world.deposits()).toMatchObject([{ witnessed: true }, { witnessed: true }])
  await grow(100)
  expect(await world.deposits()).toMatchObject([{ final: true }, { final: true }])
})

test('behavior: one endpoint alone takes back nothing that was credited, two do', async () => {
  const customer = await world.customer()
  chain.pay('USDC', await customer.address(), usd(10))
  await grow(5)
  expect(await customer.balance()).toMatchObject({ available: usd(10) })
  const [liar] = chain.nodes
  liar.receipt = () => undefined
  liar.transfers = () => []
  liar.block = (block) => block && { ...block, hash: `0x${'ab'.repeat(32)}` }
  for (let look = 0; look < 4; look++) await watch().catch(() => {})
  expect(await customer.balance()).toMatchObject({ available: usd(10) })
  expect(await world.deposits()).toMatchObject([{ status: 'credited', credits: 1 }])
  liar.receipt = (receipt) => receipt
  liar.transfers = (transfers) => transfers
  liar.block = (block) => block
  chain.reorganise(6, 'dropped')
  await grow(3)
  expect(await customer.balance()).toMatchObject({ available: 0n })
})

test.each([0, 1] as const)(
  'behavior: what endpoint %i says falsely of the place of a log does not stay',
  async (liar) => {
    const customer = await world.customer()
    chain.nodes[liar].transfers = (transfers) =>
      transfers.map((transfer) => ({ ...transfer, logIndex: transfer.logIndex + 3 }))
    chain.pay('USDC', await customer.address(), usd(7))
    await grow(100)
    expect(await world.deposits()).toMatchObject([{ status: 'credited', final: true, log_index: 0 }])
  },
)

test('behavior: a log that one endpoint leaves out for ever is credited once the other has been read', async () => {
  const customer = await world.customer()
  for (const hidden of [0, 1] as const) {
    chain.nodes[hidden].transfers = () => []
    chain.pay('USDC', await customer.address(), usd(7))
    await grow(5)
    chain.nodes[hidden].transfers = (transfers) => transfers
  }
  expect(await customer.balance()).toMatchObject({ available: usd(14) })
})

test('behavior: a log that was left out by the only endpoint that answered is found when the other is back', async () => {
  const customer = await world.customer()
  const [liar, honest] = chain.nodes
  honest.isDown = true
  liar.transfers = () => []
  chain.pay('USDC', await customer.address(), usd(7))
  // Deeper than the blocks that every look reads again.
  await grow(300)
  honest.isDown = false
  await grow(3)
  expect(await customer.balance()).toMatchObject({ available: usd(7) })
  const { rows } = await world.services.db.query(
    'select witnessed_number > finalized_number - 44 - 16 as caught_up from chain_cursor',
  )
  expect(rows).toEqual([{ caught_up: true }])
})

describe('heights', () => {
  test('behavior: a promise that one endpoint makes falsely, for a moment or for ever, credits nothing early', async () => {
    const customer = await world.customer()
    chain.nodes[0].distance = { safe: 0, finalized: 0 }
    chain.pay('USDC', await customer.address(), usd(5_000))
    await grow(9)
    expect(await customer.balance()).toMatchObject({ available: 0n })
    await grow(2)
    expect(await customer.balance()).toMatchObject({ available: usd(5_000) })
  })

  test('behavior: a promise about another block than that of the other endpoint is none, and it is told of', async () => {
    const customer = await world.customer()
    await grow(30)
    const [liar] = chain.nodes
    liar.block = (block) => block && { ...block, hash: `0x${'ab'.repeat(32)}` }
    chain.pay('USDC', await customer.address(), usd(5_000))
    chain.grow(40)
    for (let look = 0; look < 4; look++) await watch().catch(() => {})
    expect(await customer.balance()).toMatchObject({ available: 0n })
    expect(chain.port.endpoints()[0]!.trouble).toMatch('do not show one block')
  })

  test.each([0, 1] as const)(
    'behavior: endpoint %i is frozen: the other is read, and it is told of',
    async (frozen) => {
      const customer = await world.customer()
      await grow(3)
      chain.pay('USDC', await customer.address(), usd(10))
      for (let block = 0; block < 80; block++) {
        chain.grow(1)
        chain.nodes[frozen].behind = block + 2
        await watch().catch(() => {})
      }
      expect(await customer.balance()).toMatchObject({ available: usd(10) })
      const troubles = chain.port.endpoints().map(({ trouble }) => trouble)
      expect(troubles[frozen]).toMatch('blocks behind')
      expect(troubles[1 - frozen]).toBeUndefined()
      chain.nodes[frozen].behind = 0
      await watch()
      expect(chain.port.endpoints().map(({ trouble }) => trouble)).toEqual([undefined, undefined])
    },
  )
})
