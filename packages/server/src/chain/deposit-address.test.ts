import { createHmac, randomBytes } from 'node:crypto'
import { type Address, encodeFunctionData, isAddressEqual, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChainSettings, TokenSymbol } from './chain-settings.ts'
import type { DemoChains } from './demo-chains.ts'
import { depositAddress, depositSalt } from './deposit-address.ts'
import { forwarderFactoryAddress } from './forwarder-factory.ts'
import { Forwarder, ForwarderFactory, TestUSDT } from './generated/contracts.ts'
import { startTestChains, testWallet } from './testing.ts'

const secret = randomBytes(32)
const symbols: TokenSymbol[] = ['USDC', 'USDT', 'PYUSD']
let demo: DemoChains
let chain: ChainSettings
let factory: Address
let wallet: ReturnType<typeof testWallet>

beforeAll(async () => {
  demo = await startTestChains()
  chain = demo.chains[0]!
  factory = forwarderFactoryAddress(chain.treasury)
  wallet = testWallet(chain, demo.demo.faucet_key)
})
afterAll(() => demo.stop())

const predict = (settings: ChainSettings, counter: bigint) =>
  testWallet(settings, demo.demo.faucet_key).client.readContract({
    ...ForwarderFactory,
    address: factory,
    functionName: 'predict',
    args: [depositSalt(secret, counter)],
  })
const flushAll = (items: { salt: `0x${string}`; token: Address }[]) =>
  wallet.send({
    to: factory,
    data: encodeFunctionData({ ...ForwarderFactory, functionName: 'flush', args: [items] }),
  })

test('default: the salt is the HMAC of the counter as eight bytes', () => {
  const message = Buffer.from('00000000000003e8', 'hex')
  expect(depositSalt(secret, 1000n)).toBe(`0x${createHmac('sha256', secret).update(message).digest('hex')}`)
})

test('default: the computed address is what the factory predicts, on every chain', async () => {
  for (const settings of demo.chains) {
    for (const counter of [0n, 1n, 2n ** 40n]) {
      expect(await predict(settings, counter)).toBe(depositAddress(secret, counter, factory))
    }
  }
})

describe('what arrived before the forwarder was deployed', () => {
  test('default: all three tokens and native coin go to the treasury', async () => {
    const [salt, address] = [depositSalt(secret, 1n), depositAddress(secret, 1n, factory)]
    for (const symbol of symbols) await wallet.pay(symbol, address, 5_000_000n)
    await wallet.send({ to: address, value: 7n })
    const before = await wallet.client.getBalance({ address: chain.treasury })

    await flushAll([
      ...chain.tokens.map((token) => ({ salt, token: token.address })),
      { salt, token: zeroAddress },
    ])

    for (const symbol of symbols) {
      expect(await wallet.balance(symbol, address)).toBe(0n)
      expect(await wallet.balance(symbol, chain.treasury)).toBe(5_000_000n)
    }
    expect((await wallet.client.getBalance({ address: chain.treasury })) - before).toBe(7n)
  })

  test('behavior: one that fails is reported and does not stop the others', async () => {
    const [salt, address] = [depositSalt(secret, 2n), depositAddress(secret, 2n, factory)]
    await wallet.pay('USDC', address, 3n)
    const hash = await flushAll([
      { salt, token: factory },
      { salt, token: chain.tokens[0]!.address },
    ])
    expect(await wallet.balance('USDC', address)).toBe(0n)
    const { logs } = await wallet.client.getTransactionReceipt({ hash })
    expect(logs.filter((log) => isAddressEqual(log.address, factory))).toHaveLength(1)
  })
})

describe('a deployed forwarder', () => {
  const salt = depositSalt(secret, 3n)
  let address: Address
  const deploy = () =>
    wallet.send({
      to: factory,
      data: encodeFunctionData({ ...ForwarderFactory, functionName: 'deploy', args: [salt] }),
    })
  beforeAll(async () => {
    address = depositAddress(secret, 3n, factory)
    await deploy()
  })

  test('default: anyone can flush each token, and only to the treasury', async () => {
    for (const { symbol, address: token } of chain.tokens) {
      const before = await wallet.balance(symbol, chain.treasury)
      await wallet.pay(symbol, address, 11n)
      await wallet.send({
        to: address,
        data: encodeFunctionData({ ...Forwarder, functionName: 'flush', args: [token] }),
      })
      expect((await wallet.balance(symbol, chain.treasury)) - before).toBe(11n)
    }
  })

  test('behavior: deploying it again changes nothing', async () => {
    await deploy()
    expect(await wallet.client.getCode({ address })).toMatch(/^0x363d3d37/)
  })

  test('behavior: the fee that the issuer of USDT can switch on does not stop it', async () => {
    const setFee = (basisPoints: bigint) =>
      wallet.send({
        to: chain.tokens.find((token) => token.symbol === 'USDT')!.address,
        data: encodeFunctionData({ ...TestUSDT, functionName: 'setFee', args: [basisPoints] }),
      })
    await setFee(20n)
    await wallet.pay('USDT', address, 1_000_000n)
    expect(await wallet.balance('USDT', address)).toBe(998_000n)
    await flushAll([{ salt, token: chain.tokens.find((token) => token.symbol === 'USDT')!.address }])
    expect(await wallet.balance('USDT', address)).toBe(0n)
    await setFee(0n)
  })

  test('error: a token that does not exist', async () => {
    const data = encodeFunctionData({ ...Forwarder, functionName: 'flush', args: [zeroAddress] })
    await expect(wallet.client.call({ to: address, data })).rejects.toThrow('revert')
  })
})
