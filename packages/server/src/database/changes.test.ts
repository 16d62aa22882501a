import type pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { announce, type Changes, listenForChanges, readUntil } from './changes.ts'
import { openPool } from './pool.ts'
import { createTestDatabase } from './testing.ts'
import { inTransaction } from './transaction.ts'

let database: Awaited<ReturnType<typeof createTestDatabase>>
let pool: pg.Pool
let changes: Changes
beforeAll(async () => {
  database = await createTestDatabase()
  pool = openPool(database.url, { size: 4, onError: () => {} })
  changes = await listenForChanges(database.url, () => {})
})
afterAll(async () => {
  await changes.close()
  await pool.end()
  await database.drop()
})

const LISTENS = `datname = current_database() and query like 'listen %'`

const listening = async () => {
  const { rows } = await pool.query(`select count(*)::int as n from pg_stat_activity where ${LISTENS}`)
  return rows[0].n
}

const timed = async <T>(work: Promise<T>) => {
  const begun = performance.now()
  return { value: await work, milliseconds: performance.now() - begun }
}

test('default: a wait ends when its topic changes, and not when another does', async () => {
  let ended = false
  const wait = changes.wait('vps_1', 10_000).then((value) => {
    ended = true
    return value
  })
  await announce(pool, 'vps_2')
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(ended).toBe(false)
  await announce(pool, 'vps_1')
  expect(await wait).toBe(true)
})

test('behavior: a change is told when its transaction is committed, and not when it is rolled back', async () => {
  const topics: string[] = []
  const unsubscribe = changes.subscribe((topic) => topics.push(topic))
  await inTransaction(pool, async (tx) => {
    await announce(tx, 'rolled-back')
    throw new Error('no')
  }).catch(() => {})
  await inTransaction(pool, async (tx) => {
    await announce(tx, 'committed')
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(topics).toEqual([])
  })
  await changes.wait('nothing', 100)
  unsubscribe()
  expect(topics).toEqual(['committed'])
})

test('behavior: without a change it ends with its time', async () => {
  const { value, milliseconds } = await timed(changes.wait('quiet', 100))
  expect(value).toBe(true)
  expect(milliseconds).toBeGreaterThanOrEqual(95)
})

test('behavior: readUntil reads again at each change, and misses none that comes while it reads', async () => {
  let value = 0
  const read = async () => {
    const seen = value
    // The change comes after the read has seen the old value, and before it returns.
    if (seen === 0) {
      value = 1
      await announce(pool, 'counter')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return seen
  }
  const { value: last, milliseconds } = await timed(
    readUntil(changes, 'counter', 20, read, (seen) => seen === 1),
  )
  expect(last).toBe(1)
  expect(milliseconds).toBeLessThan(5_000)
})

test('behavior: readUntil with no time reads once', async () => {
  let reads = 0
  expect(
    await readUntil(
      changes,
      'x',
      0,
      async () => ++reads,
      () => false,
    ),
  ).toBe(1)
})

test('behavior: a lost connection is opened again', async () => {
  await pool.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${LISTENS}`)
  const deadline = performance.now() + 10_000
  let heard = false
  const unsubscribe = changes.subscribe(() => {
    heard = true
  })
  while (!heard && performance.now() < deadline) {
    await announce(pool, 'again')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  unsubscribe()
  expect(heard).toBe(true)
  expect(await listening()).toBe(1)
})

test('behavior: while there is no database it is tried again; where there is none at first it is said', async () => {
  const url = new URL(database.url)
  const name = url.pathname.slice(1)
  url.pathname = '/postgres'
  const admin = openPool(url.href, { size: 1, onError: () => {} })
  await admin.query(`alter database ${name} allow_connections false`)
  await pool.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${LISTENS}`)
  await expect(listenForChanges(database.url, () => {})).rejects.toThrow('not currently accepting')
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  await admin.query(`alter database ${name} allow_connections true`)
  await admin.end()
  await vi.waitFor(async () => expect(await listening()).toBe(1), 5_000)
})

test('behavior: closed while its connection is lost, it opens none', async () => {
  const before = await listening()
  const errors: Error[] = []
  const other = await listenForChanges(database.url, (error) => errors.push(error))
  await pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where pid = (select pid from pg_stat_activity where ${LISTENS} order by backend_start desc limit 1)`,
  )
  await vi.waitFor(() => expect(errors).not.toEqual([]))
  await other.close()
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  expect(await listening()).toBe(before)
})

test('behavior: closing ends every wait', async () => {
  const other = await listenForChanges(database.url, () => {})
  const wait = other.wait('never', 60_000)
  await other.close()
  expect(await wait).toBe(false)
  expect(await other.wait('never', 60_000)).toBe(false)
})
