import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { inTransaction } from '../database/transaction.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { LONGEST_SEND_MS } from './mailer.ts'
import { queueMail, sendQueuedMail } from './queue-mail.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())
beforeEach(() => {
  service.mails.length = 0
})

const mail = { to: 'owner@rackmail.net', subject: 'Hello', text: 'The word is swordfish' }
const queue = (then = () => {}) =>
  inTransaction(service.services.db, async (tx) => {
    await queueMail(tx, service.services, mail)
    then()
  })

test('default: sent once, after the commit; until then it lies sealed', async () => {
  await queue()
  expect(service.mails).toEqual([])
  const { rows } = await service.services.db.query('select content from outgoing_mail')
  expect(rows[0].content.toString('latin1')).not.toContain('swordfish')
  await Promise.all([sendQueuedMail(service.services), sendQueuedMail(service.services)])
  await sendQueuedMail(service.services)
  expect(service.mails).toEqual([mail])
})

test('behavior: what is rolled back is not sent', async () => {
  await expect(
    queue(() => {
      throw new Error('no')
    }),
  ).rejects.toThrow('no')
  await sendQueuedMail(service.services)
  expect(service.mails).toEqual([])
})

test('behavior: a mail server that is down is asked again later, and not for ever', async () => {
  await queue()
  let asked = 0
  const down = {
    ...service.services,
    mailer: {
      send: async () => {
        asked++
        throw new Error('down')
      },
    },
  }
  await sendQueuedMail(down)
  await sendQueuedMail(down)
  expect(asked).toBe(1)
  for (let n = 0; n < 10; n++) {
    service.clock.advance(21_600_000)
    await sendQueuedMail(down)
  }
  expect(asked).toBe(7)
  expect((await service.services.db.query('select from outgoing_mail')).rowCount).toBe(0)
})

test('behavior: while a server takes as long as it may, no other replica hands the same mail over', async () => {
  await queue()
  await queue()
  await queue()
  let handedOver = 0
  const slow = {
    ...service.services,
    mailer: {
      send: async () => {
        handedOver++
        service.clock.advance(LONGEST_SEND_MS)
        await sendQueuedMail(service.services)
      },
    },
  }
  await sendQueuedMail(slow)
  await sendQueuedMail(service.services)
  expect([handedOver, service.mails.length]).toEqual([1, 2])
})

test('behavior: by whatever plan PostgreSQL claims them, all that are due are sent', async () => {
  const { db } = service.services
  for (let queued = 0; queued < 5; queued++) await queue()
  const client = await db.connect()
  try {
    for (const way of ['hashjoin', 'mergejoin', 'material', 'hashagg', 'sort', 'memoize', 'indexscan'])
      await client.query(`set enable_${way} = off`)
    await sendQueuedMail({ ...service.services, db: client as unknown as typeof db })
  } finally {
    client.release(true)
  }
  expect(service.mails).toHaveLength(5)
})
