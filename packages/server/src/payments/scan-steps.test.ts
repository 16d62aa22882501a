import { expect, test } from 'vitest'
import { scanSteps } from './scan-chain.ts'

test('default: where nothing is ours it soon asks for many blocks at once, up to a limit', () => {
  const steps = scanSteps()
  expect(steps.blocks).toBe(128)
  for (let step = 0; step < 10; step++) steps.found(0)
  expect(steps.blocks).toBe(512)
})

test('behavior: where very many transfers are ours it asks for fewer blocks, and stays there', () => {
  const steps = scanSteps()
  for (let step = 0; step < 10; step++) steps.found(0)
  const each = 200
  steps.found(steps.blocks * each)
  const fewer = steps.blocks
  expect(fewer * each).toBeLessThanOrEqual(3_000)
  steps.found(fewer * each)
  expect(steps.blocks).toBe(fewer)
})

test('behavior: a single block is the least', () => {
  const steps = scanSteps()
  steps.found(1_000_000)
  steps.found(1_000_000)
  expect(steps.blocks).toBe(1)
})
