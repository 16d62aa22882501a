import { expect, test } from 'vitest'
import { type Candidate, chooseHost } from './choose-host.ts'

const host = (id: string, memory_mb: number, disk_gb = 100): Candidate => ({
  ...{ id, region: 'here', memory_mb, disk_gb },
})
const nano = { memory_mb: 512, disk_gb: 10 }
const none = new Set<string>()
/** Says these numbers, one after the other. */
const saying =
  (...numbers: number[]) =>
  () =>
    numbers.shift()!

test('default: of two at random, the one with more memory left', () => {
  const hosts = [host('a', 1000), host('b', 3000), host('c', 2000)]
  expect(chooseHost(hosts, nano, none, saying(0, 1))?.id).toBe('c')
  expect(chooseHost(hosts, nano, none, saying(0, 0))?.id).toBe('b')
  expect(chooseHost(hosts, nano, none, saying(2, 0))?.id).toBe('c')
})

test('behavior: the two are never the same one', () => {
  const hosts = [host('a', 1000), host('b', 3000)]
  for (const first of [0, 1]) expect(chooseHost(hosts, nano, none, saying(first, 0))?.id).toBe('b')
})

test('behavior: one that is full, or was no use, is not among them', () => {
  const hosts = [host('a', 500), host('b', 3000, 9), host('c', 2000)]
  expect(chooseHost(hosts, nano, none, saying())?.id).toBe('c')
  expect(chooseHost(hosts, nano, new Set(['c']), saying())).toBeUndefined()
  expect(chooseHost([], nano, none, saying())).toBeUndefined()
})
