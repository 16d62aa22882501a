import { viemChain } from '@coinrack/server/chain/viem-chain.ts'
import { runPayments } from '@coinrack/server/payments/run-payments.ts'
import { createTestWorld } from '@coinrack/server/process/testing-world.ts'

/*
 * A service that watches a chain on a database that is there, until it is killed.
 */

const { databaseUrl, settings, now } = JSON.parse(process.argv[2]!, (_key, value) =>
  typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
)
const { services } = await createTestWorld(
  { databaseUrl, clock: { now: () => new Date(now) } },
  { chains: [{ settings, port: viemChain(settings) }] },
)
runPayments(services)
// Without the test that started it there is nothing to watch for.
process.once('disconnect', () => process.exit(1))
process.send!('ready')
