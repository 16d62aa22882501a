import { basePath } from '@coinrack/contract/index.ts'
import { openGasWallet } from '@coinrack/server/chain/gas-wallet.ts'
import { viemChain } from '@coinrack/server/chain/viem-chain.ts'
import { createApp } from '@coinrack/server/process/app.ts'
import { createMetrics } from '@coinrack/server/process/metrics.ts'
import { createReadiness } from '@coinrack/server/process/readiness.ts'
import { createTestWorld } from '@coinrack/server/process/testing-world.ts'

/*
 * A service that is presented one payment by x402, and is killed by the kernel at a point that is named: before the
 * broadcast, or after it.
 */

const { databaseUrl, settings, key, token, payment, amount, point } = JSON.parse(process.argv[2]!)
const gasWallet = await openGasWallet(settings, key)
const { broadcast } = gasWallet
gasWallet.broadcast = async (raw) => {
  if (point === 'after') await broadcast(raw)
  process.kill(process.pid, 'SIGKILL')
}
const { services } = await createTestWorld(
  { databaseUrl, clock: { now: () => new Date() } },
  { chains: [{ settings, port: viemChain(settings), gasWallet }] },
)
const app = createApp(services, createReadiness(services), createMetrics())
const { body } = await app.inject({
  method: 'POST',
  url: `${basePath}/balance/topup`,
  headers: {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'payment-signature': payment,
  },
  payload: { amount },
})
throw new Error(`Answered, and was not killed: ${body}`)
