import { randomBytes } from 'node:crypto'
import { array, assert, asyncProperty, constantFrom, integer, nat, record } from 'fast-check'
import { type Address, encodeFunctionData, type Hex, parseEventLogs } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChainSettings } from './chain-settings.ts'
import type { DemoChains } from './demo-chains.ts'
import { depositAddress, depositSalt } from './deposit-address.ts'
import { forwarderFactoryAddress } from './forwarder-factory.ts'
import { ForwarderFactory, HostileToken } from './generated/contracts.ts'
import { minedReceipt } from './mined-receipt.ts'
import { startTestChains, testWallet } from './testing.ts'

/*
 * The contracts against tokens that misbehave, in generated batches: money at a forwarder stays there or goes to the
 * treasury, whatever else is in the batch, and regardless of its sender and gas limit.
 */

const RUNS = 40
const GAS = 15_000_000n
/** The token behaviours in the order of the contract's own list. */
const manners = [
  'Honest',
  'AnswersNothing',
  'AnswersFalse',
  'AnswersTwo',
  'AnswersOneByte',
  'AnswersTooMuch',
  'Reverts',
  'RevertsWithTooMuch',
  'TakesAFee',
  'MovesNothing',
  'CallsBack',
  'ClaimsMore',
  'EatsTheGas',
] as const
type Manner = (typeof manners)[number]
/** The behaviours after which the money is still at its forwarder. */
const failing: Manner[] = [
  'AnswersFalse',
  'AnswersTwo',
  'AnswersOneByte',
  'Reverts',
  'RevertsWithTooMuch',
  'ClaimsMore',
]

const secret = randomBytes(32)
let demo: DemoChains
let chain: ChainSettings
let factory: Address
let wallet: ReturnType<typeof testWallet>
let hostile: Address
let counter = 0n

beforeAll(async () => {
  demo = await startTestChains()
  chain = demo.chains[0]!
  factory = forwarderFactoryAddress(chain.treasury)
  wallet = testWallet(chain, demo.demo.faucet_key)
  const hash = await wallet.client.sendTransaction({ data: HostileToken.bytecode, chain: null })
  hostile = (await minedReceipt(wallet.client, hash)).contractAddress!
})
afterAll(() => demo.stop())

interface Item {
  salt: Hex
  token: Address
  owner: Address
}

const placeOf = (number: bigint) => ({
  salt: depositSalt(secret, number),
  owner: depositAddress(secret, number, factory),
})
const onHostile = (call: Parameters<typeof encodeFunctionData<typeof HostileToken.abi>>[0]) =>
  wallet.send({ to: hostile, data: encodeFunctionData(call) })
const { abi } = HostileToken
const behave = (manner: Manner, salt: Hex) =>
  onHostile({ abi, functionName: 'behave', args: [manners.indexOf(manner), factory, salt] })
const mint = (to: Address, value: bigint) => onHostile({ abi, functionName: 'mint', args: [to, value] })
const held = (owner: Address) =>
  wallet.client.readContract({ abi, address: hostile, functionName: 'held', args: [owner] })
const balanceOf = (token: Address, owner: Address) =>
  token === hostile
    ? held(owner)
    : wallet.balance(chain.tokens.find(({ address }) => address === token)!.symbol, owner)

const flushData = (items: Item[]) =>
  encodeFunctionData({
    ...ForwarderFactory,
    functionName: 'flush',
    args: [items.map(({ salt, token }) => ({ salt, token }))],
  })
/** @returns undefined when it reverts, else the forwarders and tokens that failed */
async function flush(items: Item[], gas: bigint): Promise<string[] | undefined> {
  const hash = await wallet.client.sendTransaction({ to: factory, data: flushData(items), gas, chain: null })
  const { status, logs } = await minedReceipt(wallet.client, hash)
  if (status !== 'success') return undefined
  return parseEventLogs({ ...ForwarderFactory, eventName: 'FlushFailed', logs }).map(({ args }) =>
    nameOf({ owner: args.forwarder, token: args.token }),
  )
}
const nameOf = ({ owner, token }: Pick<Item, 'owner' | 'token'>) => `${owner} ${token}`.toLowerCase()

/** Money at some forwarders, and a batch over them in some order, with some entries repeated. */
const batches = record({
  manner: constantFrom(...manners.filter((manner) => manner !== 'EatsTheGas')),
  payments: array(record({ place: nat(3), token: nat(3), amount: integer({ min: 1, max: 5_000_000 }) }), {
    minLength: 1,
    maxLength: 8,
  }),
  again: array(nat(7), { maxLength: 3 }),
  deployed: array(nat(3), { maxLength: 2 }),
})

test('invariant: money stays or goes to the treasury, and what fails stops nothing else', async () => {
  const seed = Number(process.env.COINRACK_TEST_SEED ?? randomBytes(4).readUInt32LE())
  const property = asyncProperty(batches, async ({ manner, payments, again, deployed }) => {
    const base = counter
    counter += 4n
    const tokens = [...chain.tokens.map(({ address }) => address), hostile]
    await behave('Honest', placeOf(base).salt)
    const items: Item[] = []
    for (const { place, token: which, amount } of payments) {
      const token = tokens[which]!
      const { salt, owner } = placeOf(base + BigInt(place))
      if (token === hostile) await mint(owner, BigInt(amount))
      else await wallet.pay(chain.tokens[which]!.symbol, owner, BigInt(amount))
      items.push({ salt, owner, token })
    }
    for (const index of again) if (items[index]) items.push(items[index])
    for (const place of deployed) {
      const { salt } = placeOf(base + BigInt(place))
      const data = encodeFunctionData({ ...ForwarderFactory, functionName: 'deploy', args: [salt] })
      await wallet.send({ to: factory, data })
    }
    await behave(manner, placeOf(base + BigInt(payments[0]!.place)).salt)

    const distinct = [...new Map(items.map((item) => [nameOf(item), item])).values()]
    const before = await Promise.all(distinct.map(({ token, owner }) => balanceOf(token, owner)))
    const treasuryOf = () => Promise.all(tokens.map((token) => balanceOf(token, chain.treasury)))
    const treasury = await treasuryOf()
    const failed = await flush(items, GAS)

    const after = await Promise.all(distinct.map(({ token, owner }) => balanceOf(token, owner)))
    const gained = (await treasuryOf()).map((amount, index) => amount - treasury[index]!)
    distinct.forEach((item, index) => {
      const fails = item.token === hostile && failing.includes(manner)
      expect(failed!.includes(nameOf(item)), nameOf(item)).toBe(fails)
      const stays = fails || (item.token === hostile && manner === 'MovesNothing')
      expect(after[index]).toBe(stays ? before[index] : 0n)
    })
    tokens.forEach((token, index) => {
      const left = distinct.reduce(
        (sum, item, at) => (item.token === token ? sum + before[at]! - after[at]! : sum),
        0n,
      )
      if (token === hostile && manner === 'TakesAFee') expect(gained[index]).toBeLessThanOrEqual(left)
      else expect(gained[index]).toBe(left)
    })
  })
  await assert(property, { seed, numRuns: RUNS })
}, 240_000)

describe('gas', () => {
  /** Two forwarders with all three tokens each. */
  async function paid(): Promise<Item[]> {
    const items: Item[] = []
    for (const number of [counter++, counter++]) {
      const { salt, owner } = placeOf(number)
      for (const { symbol, address: token } of chain.tokens) {
        await wallet.pay(symbol, owner, 7n)
        items.push({ salt, owner, token })
      }
    }
    return items
  }
  const left = async (items: Item[]) =>
    (await Promise.all(items.map(({ token, owner }) => balanceOf(token, owner)))).filter(
      (amount) => amount > 0n,
    )

  test('invariant: a flush with too little gas moves nothing: it never leaves a part without saying so', async () => {
    const items = await paid()
    const estimate = await wallet.client.estimateGas({ to: factory, data: flushData(items) })
    let moved: string[] | undefined
    for (let gas = estimate / 3n; moved === undefined; gas += estimate / 40n) {
      moved = await flush(items, gas)
      expect(moved ?? []).toEqual([])
      if (moved === undefined) expect(await left(items)).toHaveLength(6)
    }
    expect(await left(items)).toEqual([])
  })

  test.each([1, 2, 3, 4, 5, 6])(
    'behavior: what wallets estimate is enough for %i transfers',
    async (count) => {
      const items = (await paid()).slice(0, count)
      const gas = await wallet.client.estimateGas({ to: factory, data: flushData(items) })
      expect(await flush(items, gas)).toEqual([])
      expect(await left(items)).toEqual([])
    },
  )

  test('error: a token that eats all gas stops its batch, and nothing is lost', async () => {
    const items = await paid()
    const { salt, owner } = placeOf(counter++)
    await behave('EatsTheGas', salt)
    await mint(owner, 5n)
    expect(await flush([...items, { salt, owner, token: hostile }], 3_000_000n)).toBeUndefined()
    expect(await left(items)).toHaveLength(6)
    expect(await flush(items, 3_000_000n)).toEqual([])
  })
})

test('behavior: nobody can call a forwarder to anything else', async () => {
  const { salt, owner } = placeOf(counter++)
  await wallet.send({
    to: factory,
    data: encodeFunctionData({ ...ForwarderFactory, functionName: 'deploy', args: [salt] }),
  })
  const property = asyncProperty(array(nat(255), { minLength: 4, maxLength: 68 }), async (bytes) => {
    const data: Hex = `0x${Buffer.from(bytes).toString('hex')}`
    await expect(wallet.client.call({ to: owner, data })).rejects.toThrow('revert')
  })
  await assert(property, { numRuns: 50 })
  expect(await wallet.client.getStorageAt({ address: owner, slot: '0x0' })).toMatch(/^0x0+$/)
})
