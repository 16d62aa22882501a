import { expect, test } from 'vitest'
import { numberTransfers } from './number-transfers.ts'

const transfer = {
  token: '0x1',
  from: '0x2',
  to: '0x3',
  value: 5n,
  txHash: '0x4',
  logIndex: 0,
  blockNumber: 1,
  blockHash: '0x5',
} as const
const ordinals = (...changes: Partial<Parameters<typeof numberTransfers>[0][number]>[]) =>
  numberTransfers(changes.map((change, logIndex) => ({ ...transfer, logIndex, ...change }))).map(
    ({ ordinal }) => ordinal,
  )

test('default: equal transfers of a transaction are counted, whatever stands between them', () => {
  expect(ordinals({}, { value: 6n }, {}, { token: '0x9' }, { to: '0x9' }, { from: '0x9' })).toEqual([
    0, 0, 1, 0, 0, 2,
  ])
})

test('behavior: other transactions are counted by themselves', () => {
  expect(ordinals({}, { txHash: '0x6' }, {})).toEqual([0, 0, 1])
})

test('behavior: a transaction that two halves of a range show in two blocks is counted in each', () => {
  expect(ordinals({}, {}, { blockHash: '0x7' }, { blockHash: '0x7' })).toEqual([0, 1, 0, 1])
})
