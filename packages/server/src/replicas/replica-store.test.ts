import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestService, type TestService } from '../process/testing.ts'
import { announceReplica } from './announce-replica.ts'
import { currentReplicas, forgetReplicas, noteReplica, noteTending } from './replica-store.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())
beforeEach(() => service.services.db.query('delete from replica'))

const replica = (id: string) => ({ id, address: `192.0.2.1:${id.length}`, version: '1.0.0' })
const listed = async () =>
  (await currentReplicas(service.services.db)).map(({ id, tendsLocal }) => (tendsLocal ? `${id} tends` : id))

test('default: those that run are listed, and one of them tends the machines', async () => {
  const { db } = service.services
  await noteReplica(db, replica('one'))
  await noteReplica(db, replica('two'))
  await noteTending(db, replica('one'))
  expect(await listed()).toEqual(['one tends', 'two'])
  await noteTending(db, replica('two'))
  await noteReplica(db, replica('one'))
  expect(await listed()).toEqual(['one', 'two tends'])
  const [one] = await currentReplicas(db)
  expect(one).toMatchObject({ address: '192.0.2.1:3', version: '1.0.0' })
})

test('behavior: one that gave no sign for a while is gone', async () => {
  const { db } = service.services
  await noteReplica(db, replica('killed'))
  await noteReplica(db, replica('alive'))
  await db.query(`update replica set seen_at = seen_at - interval '16 seconds' where id = 'killed'`)
  expect(await listed()).toEqual(['alive'])
  await forgetReplicas(db, null)
  expect((await db.query('select from replica')).rowCount).toBe(1)
})

test('behavior: one that runs keeps itself on the list, and takes itself off at its end', async () => {
  const { db } = service.services
  const announced = await announceReplica(service.services, '192.0.2.1:7443')
  await announced.tends()
  expect(await listed()).toEqual([expect.stringMatching(/^[0-9a-f]{16} tends$/)])
  await db.query(`delete from replica`)
  await expect.poll(listed, { timeout: 10_000 }).toHaveLength(1)
  expect(await listed()).toEqual([expect.stringMatching(/ tends$/)])
  await announced.end()
  expect(await listed()).toEqual([])
})
