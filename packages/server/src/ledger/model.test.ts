import { expect, test } from 'vitest'
import { compareWithModel } from './testing-model-run.ts'

const OPERATIONS = 8_000

test('behavior: 8,000 random operations leave the ledger equal to its model, to the micro-dollar', async () => {
  const seed = Number(process.env.COINRACK_TEST_SEED ?? Date.now() & 0x7fffffff)
  console.log(`COINRACK_TEST_SEED=${seed}`)
  expect(await compareWithModel({ operations: OPERATIONS, seed })).toBeGreaterThanOrEqual(OPERATIONS)
}, 300_000)
