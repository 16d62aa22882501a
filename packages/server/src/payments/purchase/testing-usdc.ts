import { type Address, encodeFunctionData, numberToHex, pad, parseAbi } from 'viem'
import type { ChainSettings } from '../../chain/chain-settings.ts'
import type { DemoChains } from '../../chain/demo-chains.ts'
import { testWallet } from '../../chain/testing.ts'

/** USDC on Base, the token that stock clients know and pay with by default. */
const USDC_ON_BASE: Address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const MINT = parseAbi(['function mint(address to, uint256 value)'])
/** More storage slots than the test token uses. */
const SLOTS = 16

/**
 * Copies the test USDC of the demo chain of Base to the address of the real one, so that stock clients can be tested
 * unmodified.
 * @returns the settings of that chain with this token, and a function that gives a payer such tokens
 */
export async function withKnownUsdc({ chains, demo }: Pick<DemoChains, 'chains' | 'demo'>) {
  const [base] = chains as [ChainSettings]
  const { client } = testWallet(base, demo.faucet_key)
  const set = (method: string, ...params: unknown[]) =>
    client.request({ method: method as never, params: params as never })
  const made = base.tokens.find(({ symbol }) => symbol === 'USDC')!.address
  await set('anvil_setCode', USDC_ON_BASE, await client.getCode({ address: made }))
  for (let slot = 0; slot < SLOTS; slot++) {
    const value = await client.getStorageAt({ address: made, slot: numberToHex(slot) })
    await set('anvil_setStorageAt', USDC_ON_BASE, numberToHex(slot, { size: 32 }), pad(value ?? '0x0'))
  }
  const tokens = base.tokens.map((token) =>
    token.symbol === 'USDC' ? { ...token, address: USDC_ON_BASE } : token,
  )
  const settings: ChainSettings = { ...base, tokens }
  const wallet = testWallet(settings, demo.faucet_key)
  return {
    settings,
    /** @param amount in the smallest unit */
    async give(payer: Address, amount: bigint) {
      const data = encodeFunctionData({ abi: MINT, functionName: 'mint', args: [payer, amount] })
      await wallet.send({ to: USDC_ON_BASE, data })
    },
  }
}
