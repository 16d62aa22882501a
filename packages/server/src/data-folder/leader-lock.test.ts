import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { asLeader } from './leader-lock.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turn-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** One who wants its turn, and what became of it. */
function wanting(pidFile = join(folder, 'one.pid')) {
  const seen: string[] = []
  const end = asLeader(
    pidFile,
    () => {
      seen.push('begun')
      return async () => {
        seen.push('ended')
      }
    },
    (error) => seen.push(error.message),
  )
  return { seen, end }
}

test('default: begins at once where nobody else does it, and ends it', async () => {
  const { seen, end } = wanting()
  await expect.poll(() => seen).toEqual(['begun'])
  await end()
  expect(seen).toEqual(['begun', 'ended'])
})

test('behavior: the next one waits until the first has ended', async () => {
  const first = wanting()
  await expect.poll(() => first.seen).toEqual(['begun'])
  const second = wanting()
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  expect(second.seen).toEqual([])
  await first.end()
  await expect.poll(() => second.seen, { timeout: 5_000 }).toEqual(['begun'])
  await second.end()
})

test('behavior: one that is ended while it waits never begins', async () => {
  const first = wanting()
  await expect.poll(() => first.seen).toEqual(['begun'])
  const second = wanting()
  await second.end()
  await first.end()
  expect(second.seen).toEqual([])
})

test('error: a lock that cannot be asked for is told, and asked for again', async () => {
  const { seen, end } = wanting('/dev/null/one.pid')
  await expect.poll(() => seen.length).toBe(1)
  expect(seen[0]).toContain('ENOTDIR')
  await end()
})
