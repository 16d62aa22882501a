import { snapshotStatuses } from '@coinrack/contract/snapshots.ts'
import { expect, test } from 'vitest'
import { MOST_ATTEMPTS, nextStatus, workOf } from './snapshot-state.ts'

test.each([
  ['creating', 'ready'],
  ['restoring', 'ready'],
  ['deleting', 'deleted'],
] as const)('default: %s, done, is %s', (status, next) => {
  expect(nextStatus(status, 'done', 0)).toBe(next)
})

test('behavior: what failed is tried again, some times', () => {
  for (const status of ['creating', 'restoring', 'deleting'] as const)
    expect(nextStatus(status, 'failed', MOST_ATTEMPTS - 1)).toBe(status)
  expect(nextStatus('creating', 'failed', MOST_ATTEMPTS)).toBe('failed')
  expect(nextStatus('restoring', 'failed', MOST_ATTEMPTS)).toBe('ready')
  expect(nextStatus('deleting', 'failed', MOST_ATTEMPTS)).toBe('deleting')
})

test('behavior: a damaged one is not tried again', () => {
  expect(nextStatus('restoring', 'damaged', 1)).toBe('damaged')
})

test('behavior: whatever is in work comes to an end', () => {
  for (const status of snapshotStatuses) expect(workOf[nextStatus(status, 'done', 0)]).toBeUndefined()
})
