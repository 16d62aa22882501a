import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { oneConnection, openPool } from './pool.ts'
import { createTestDatabase } from './testing.ts'
import { CommitInDoubtError, demandNoTransaction, inTransaction } from './transaction.ts'
import { databaseTrouble } from './trouble.ts'

let database: Awaited<ReturnType<typeof createTestDatabase>>
let pool: pg.Pool
beforeAll(async () => {
  database = await createTestDatabase()
  pool = openPool(database.url, { size: 4, onError: () => {} })
  await pool.query('create table counter (id int primary key, value bigint not null)')
})
afterAll(async () => {
  await pool.end()
  await database.drop()
})
beforeEach(() => pool.query('truncate counter; insert into counter values (1, 0), (2, 0)'))

const values = async () =>
  (await pool.query('select value from counter order by id')).rows.map(({ value }) => value)

test('default: committed when the work returns', async () => {
  const result = await inTransaction(pool, async (tx) => {
    await tx.query('update counter set value = 5 where id = 1')
    return 'done'
  })
  expect(result).toBe('done')
  expect(await values()).toEqual([5n, 0n])
})

test('behavior: rolled back when it throws, and the connection is good for the next', async () => {
  for (let time = 0; time < 10; time++) {
    const work = inTransaction(pool, async (tx) => {
      await tx.query('update counter set value = 5')
      throw new Error('no')
    })
    await expect(work).rejects.toThrow('no')
  }
  expect(await values()).toEqual([0n, 0n])
})

test('behavior: a statement that fails rolls back what was before it', async () => {
  const work = inTransaction(pool, async (tx) => {
    await tx.query('update counter set value = 5')
    await tx.query('insert into counter values (1, 1)')
  })
  await expect(work).rejects.toThrow(/unique/)
  expect(await values()).toEqual([0n, 0n])
})

test('behavior: of two that wait for each other one is repeated until both are done, each once', async () => {
  let [runs, waiting] = [0, 0]
  const crossing = (first: number, second: number) =>
    inTransaction(pool, async (tx) => {
      runs++
      await tx.query('update counter set value = value + 1 where id = $1', [first])
      waiting++
      while (waiting < 2) await new Promise((resolve) => setTimeout(resolve, 5))
      await tx.query('update counter set value = value + 1 where id = $1', [second])
    })
  await Promise.all([crossing(1, 2), crossing(2, 1)])
  // The repeated one can be quicker at its row than the one that was woken up for it, and they meet once more.
  expect(runs).toBeGreaterThanOrEqual(3)
  expect(await values()).toEqual([2n, 2n])
})

test('error: a deadlock that does not end is given up after five times', async () => {
  let runs = 0
  const work = inTransaction(pool, async () => {
    runs++
    throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
  })
  await expect(work).rejects.toThrow('deadlock')
  expect(runs).toBe(5)
})

test('error: slow work and a second transaction are refused inside one, however deep, and not after it', async () => {
  const slow = async () => {
    await pool.query('select 1')
    demandNoTransaction('A key derivation')
  }
  await expect(inTransaction(pool, () => Promise.all([slow()]))).rejects.toThrow(
    'A key derivation was asked for inside a transaction',
  )
  await expect(inTransaction(pool, () => inTransaction(pool, async () => {}))).rejects.toThrow(
    'A transaction of its own was asked for inside a transaction',
  )
  let afterwards: Promise<void> | undefined
  await inTransaction(pool, async (tx) => {
    afterwards = new Promise((resolve) => setTimeout(resolve, 50)).then(slow)
    await tx.query('select 1')
  })
  await afterwards
})

test('behavior: a statement that goes on for too long is ended', async () => {
  const { rows } = await pool.query(
    `select name, setting::int as ms from pg_settings
     where name in ('statement_timeout', 'idle_in_transaction_session_timeout') order by name`,
  )
  expect(rows).toEqual([
    { name: 'idle_in_transaction_session_timeout', ms: 60_000 },
    { name: 'statement_timeout', ms: 30_000 },
  ])
})

test('error: when all connections are taken, one waits five seconds for one and no longer', async () => {
  const taken = await Promise.all(Array.from({ length: 4 }, () => pool.connect()))
  const begun = performance.now()
  await expect(pool.query('select 1')).rejects.toThrow('timeout')
  expect(performance.now() - begun).toBeLessThan(20_000)
  for (const client of taken) client.release()
})

test('behavior: a connection that was cut is not used again', async () => {
  const work = inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid')
    await pool.query('select pg_terminate_backend($1)', [rows[0]!.pid])
    await tx.query('select 1')
  })
  await expect(work).rejects.toThrow()
  for (let time = 0; time < 8; time++)
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
})

test('error: a connection that is cut between two statements says so with the next', async () => {
  const client = oneConnection(database.url)
  await client.connect()
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const ended = new Promise((resolve) => client.once('end', resolve))
  await pool.query('select pg_terminate_backend($1)', [rows[0].pid])
  await ended
  await expect(client.query('select 1')).rejects.toThrow()
})

test('error: when the connection breaks at the commit, it is in doubt, and who asked is told how to go on', async () => {
  const failed = await inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid')
    await pool.query('select pg_terminate_backend($1)', [rows[0]!.pid])
  }).catch((error) => error)
  expect(failed).toBeInstanceOf(CommitInDoubtError)
  const told = databaseTrouble(failed)!
  expect([told.status, told.code, told.options.fix]).toEqual([
    503,
    'unavailable',
    expect.stringContaining('same Idempotency-Key'),
  ])
})

test('behavior: a commit that the database refused is not in doubt', async () => {
  await pool.query('update counter set value = id')
  await pool.query('alter table counter add unique (value) deferrable initially deferred')
  const work = inTransaction(pool, (tx) => tx.query('update counter set value = 1'))
  await expect(work).rejects.toMatchObject({ code: '23505' })
  await pool.query('alter table counter drop constraint counter_value_key')
})
