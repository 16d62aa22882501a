import { expect, test } from 'vitest'
import { readProductionChains } from './production-chains.ts'

const treasury = '0x52908400098527886E0F7030069857D2E4169EE7'
const file = (chain: object) =>
  JSON.stringify({
    treasury,
    chains: [{ rpc_urls: ['https://rpc.example.net', 'https://rpc.example.org'], ...chain }],
  })
const symbolsOf = (text: string) => readProductionChains(text)[0]!.tokens.map(({ symbol }) => symbol)

test("default: the tokens with their issuer's contract, the policy of the network, one treasury", () => {
  const text = JSON.stringify({
    treasury,
    chains: ['base', 'ethereum', 'polygon'].map((network) => ({
      network,
      rpc_urls: ['https://rpc.example.net', 'https://rpc.example.org'],
    })),
  })
  const chains = readProductionChains(text)
  expect(chains.map(({ chainId, tokens }) => [chainId, tokens.map(({ symbol }) => symbol)])).toEqual([
    [8453, ['USDC']],
    [1, ['USDC', 'USDT', 'PYUSD']],
    [137, ['USDC', 'USDT']],
  ])
  expect(chains.every((chain) => chain.treasury === treasury && chain.demo === undefined)).toBe(true)
})

test('behavior: the operator adds a token by its address', () => {
  const tokens = { USDT: '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2' }
  expect(symbolsOf(file({ network: 'base', tokens }))).toEqual(['USDC', 'USDT'])
})

test('behavior: the operator takes a token away', () => {
  expect(symbolsOf(file({ network: 'ethereum', tokens: { PYUSD: null } }))).toEqual(['USDC', 'USDT'])
})

test.each([
  [
    'an address with a wrong checksum',
    { network: 'base', tokens: { USDT: '0xfDe4C96c8593536E31F229EA8f37b2ADa2699bb2' } },
  ],
  ['a network that is not supported', { network: 'solana' }],
  ['a token that is not supported', { network: 'base', tokens: { DAI: treasury } }],
  ['a field that does not exist', { network: 'base', confirmations: 1 }],
  ['an endpoint that is no address', { network: 'base', rpc_urls: ['localhost', 'https://rpc.example.org'] }],
  ['one endpoint', { network: 'base', rpc_urls: ['https://rpc.example.net'] }],
  [
    'one endpoint twice',
    { network: 'base', rpc_urls: ['https://rpc.example.net/1', 'https://rpc.example.net/2'] },
  ],
])('error: %s', (_what, chain) => {
  expect(() => readProductionChains(file(chain))).toThrow('The chains file does not hold')
})

test('error: a network that is named twice', () => {
  const chain = { network: 'base', rpc_urls: ['https://rpc.example.net', 'https://rpc.example.org'] }
  expect(() => readProductionChains(JSON.stringify({ treasury, chains: [chain, chain] }))).toThrow(
    'named twice',
  )
})
