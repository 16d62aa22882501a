import { createClient } from '@coinrack/sdk/index.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningService, startService } from './support/running-service.ts'

/* Two processes of the service as an operator starts them, on one data folder. */

const TENDS = 'This service tends the machines'

let service: RunningService
beforeAll(async () => {
  service = await startService({ COINRACK_LOG_LEVEL: 'info' })
})
afterAll(() => service.stop())

test('behavior: a second one answers as the first does, and tends the machines once that was killed', async () => {
  const replica = await service.startReplica()
  const { token } = await createClient({ url: service.origin }).registerAccount({
    email: 'two@rackmail.net',
  })
  await service.operator('credit', 'two@rackmail.net', '5', '--reason', 'test')
  const here = createClient({ url: service.origin, token })
  const there = createClient({ url: replica.origin, token })
  expect((await there.getBalance()).balance).toBe(5_000_000n)

  const child = await there.createToken({ scopes: ['read'] })
  const childHere = createClient({ url: service.origin, token: child.token })
  await childHere.getBalance()
  await there.revokeToken({ token_id: child.details.id })
  await expect(childHere.getBalance()).rejects.toMatchObject({ status: 401 })

  // A caller that waits here is woken by what happens there.
  const waiting = here.listEvents({ timeout: 20 })
  const { webhook } = await there.createWebhook({ url: 'https://hook.invalid/' })
  const { event_id } = await there.testWebhook({ webhook_id: webhook.id })
  expect((await waiting).items.map(({ id }) => id)).toEqual([event_id])

  expect(replica.output()).not.toContain(TENDS)
  await service.kill()
  await expect.poll(() => replica.output(), { timeout: 10_000 }).toContain(TENDS)
  expect((await there.getBalance()).balance).toBe(5_000_000n)
})
