import { base, mainnet, polygon } from 'viem/chains'
import { expect, test } from 'vitest'
import { fakeSettings } from '../payments/testing.ts'
import { explorerOf, publicNetworks, walletChain } from './wallet-chain.ts'

test('default: names, coins, endpoints and explorers are those that viem knows of these chains', () => {
  for (const [network, known] of Object.entries({ base, ethereum: mainnet, polygon })) {
    const { name, coin, rpcUrl, explorer } = publicNetworks[network as keyof typeof publicNetworks]
    expect({ name, coin: { ...coin, decimals: 18 }, rpcUrl, explorer }).toEqual({
      name: known.name,
      coin: known.nativeCurrency,
      rpcUrl: known.rpcUrls.default.http[0],
      explorer: known.blockExplorers.default.url,
    })
  }
})

test('behavior: the endpoints of the operator are told to no wallet', () => {
  const settings = {
    ...fakeSettings(8453, 'base'),
    rpcUrls: ['https://rpc.rackmail.net/key-of-the-operator'],
  }
  expect(walletChain(settings)).toEqual({
    chainId: '0x2105',
    chainName: 'Base',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: ['https://mainnet.base.org'],
    blockExplorerUrls: ['https://basescan.org'],
  })
})

test('behavior: a local chain is told by its own endpoints, and has no explorer', () => {
  const settings = { ...fakeSettings(137, 'polygon'), rpcUrls: ['http://127.0.0.1:8545'], demo: true }
  expect(walletChain(settings)).toMatchObject({
    chainName: 'Polygon (local demo)',
    rpcUrls: ['http://127.0.0.1:8545'],
  })
  expect(walletChain(settings)).not.toHaveProperty('blockExplorerUrls')
  expect(explorerOf(settings)).toBeUndefined()
})
