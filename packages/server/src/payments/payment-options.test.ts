import { expect, test } from 'vitest'
import type { ChainSettings } from '../chain/chain-settings.ts'
import { confirmationPolicies } from '../chain/confirmation-policy.ts'
import { paymentOptions } from './payment-options.ts'

const usdc = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const usdt = '0xdAC17F958D2ee523a2206206994597C13D831ec7'
const to = '0x52908400098527886e0f7030069857d2e4169ee7'
const chain = (
  chainId: number,
  network: ChainSettings['network'],
  tokens: ChainSettings['tokens'],
): ChainSettings => ({
  chainId,
  network,
  tokens,
  rpcUrls: [],
  treasury: usdc,
  confirmation: confirmationPolicies[network],
  pollMs: 1000,
})
const chains = [
  chain(8453, 'base', [{ symbol: 'USDC', address: usdc, decimals: 6 }]),
  chain(1, 'ethereum', [{ symbol: 'USDT', address: usdt, decimals: 6 }]),
]
const all = { network: null, token: null }

test('default: every token of every network, with what a wallet needs', () => {
  const options = paymentOptions(chains, to, 12_500_000n, all)
  expect(options).toHaveLength(2)
  expect(options[0]).toEqual({
    network: 'base',
    chain_id: 8453,
    token: 'USDC',
    token_address: usdc,
    decimals: 6,
    address: '0x52908400098527886E0F7030069857D2E4169EE7',
    amount: 12_500_000n,
    amount_atomic: '12500000',
    uri: `ethereum:${usdc}@8453/transfer?address=0x52908400098527886E0F7030069857D2E4169EE7&uint256=12500000`,
  })
})

test('behavior: only the network or the token that was asked for', () => {
  expect(paymentOptions(chains, to, 1n, { ...all, network: 'ethereum' }).map(({ token }) => token)).toEqual([
    'USDT',
  ])
  expect(paymentOptions(chains, to, 1n, { ...all, token: 'USDC' }).map(({ network }) => network)).toEqual([
    'base',
  ])
  expect(paymentOptions(chains, to, 1n, { network: 'base', token: 'USDT' })).toEqual([])
})
