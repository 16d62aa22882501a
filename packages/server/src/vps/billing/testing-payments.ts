import type { ChainSettings } from '../../chain/chain-settings.ts'
import { confirmationPolicies } from '../../chain/confirmation-policy.ts'
import { type FakeChain, fakeChain } from '../../chain/fake-chain.ts'
import { depositWatcher } from '../../payments/watch-deposits.ts'
import { startTestService, type TestService } from '../../process/testing.ts'

const base: ChainSettings = {
  chainId: 8453,
  network: 'base',
  rpcUrls: [],
  tokens: [{ symbol: 'USDC', address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', decimals: 6 }],
  treasury: '0x52908400098527886E0F7030069857D2E4169EE7',
  confirmation: confirmationPolicies.base,
  pollMs: 1000,
}

/** The service with a chain on which payments arrive, and are taken back, at will. */
export interface PayableService extends TestService {
  /** Lets micro-dollars arrive at an address, confirmed and credited. */
  arrive(address: string, amount: bigint): Promise<void>
  /** Takes all of them back that came since the chain was last final. */
  takeBack(): Promise<void>
}

export async function startPayableService(env: Record<string, string> = {}): Promise<PayableService> {
  const chain: FakeChain = fakeChain(base)
  const service = await startTestService({ env, chains: [{ settings: base, port: chain.port }] })
  const watch = depositWatcher(service.services, service.services.chains[0]!)
  await watch()
  return {
    ...service,
    async arrive(address, amount) {
      chain.pay('USDC', address, amount)
      chain.grow(4)
      await watch()
    },
    async takeBack() {
      chain.reorganise(5, 'dropped')
      await watch()
    },
  }
}
