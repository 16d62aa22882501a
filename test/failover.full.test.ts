import { expect, test } from 'vitest'
import { runFailovers } from './support/failover.ts'

test('behavior: three times in a row the primary is killed, and the server that was killed follows the new one', async () => {
  const seed = Number(process.env.COINRACK_TEST_SEED ?? Date.now() & 0x7fffffff)
  console.log(`COINRACK_TEST_SEED=${seed}`)
  const report = await runFailovers({ buyers: 24, failovers: 3, seconds: 15, seed })
  expect(report.seconds).toHaveLength(3)
  for (const seconds of report.seconds) expect(seconds).toBeLessThan(10)
}, 600_000)
