import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { ensureLedgerRole } from './migrate.ts'

const name = `outsider_${randomBytes(4).toString('hex')}`
let admin: pg.Client

beforeAll(async () => {
  const url = new URL(inject('postgresUrl'))
  url.username = 'postgres'
  url.pathname = '/postgres'
  admin = new pg.Client({ connectionString: url.href })
  await admin.connect()
  await admin.query(`create role ${name}`)
})
afterAll(async () => {
  await admin?.query(`drop role ${name}`)
  await admin?.end()
})

const canTake = async () => {
  const { rows } = await admin.query(
    `select pg_has_role($1, 'coinrack_ledger', 'SET') as set, pg_has_role($1, 'coinrack_ledger', 'USAGE') as inherited`,
    [name],
  )
  return rows[0]
}

test('error: a role that may make none is told what an administrator has to run', async () => {
  await admin.query(`set role ${name}`)
  await expect(ensureLedgerRole(admin)).rejects.toThrow(
    `create role coinrack_ledger nologin; grant coinrack_ledger to "${name}" with inherit false, set true;`,
  )
  await admin.query('reset role')
})

test('default: who may take the role inherits nothing of it; once more changes nothing', async () => {
  expect(await canTake()).toEqual({ set: false, inherited: false })
  for (let time = 0; time < 2; time++) await ensureLedgerRole(admin, name)
  expect(await canTake()).toEqual({ set: true, inherited: false })
  await admin.query(`set role ${name}`)
  await ensureLedgerRole(admin)
  await admin.query('reset role')
})
