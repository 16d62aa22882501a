import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { guestChannelSuite } from '../ports/suites/guest-channel.suite.ts'
import { makeSpec } from '../testing.ts'
import { createFakeDriver } from './driver.ts'
import { createFakeGuestChannel } from './guest-channel.ts'

const clock = { now: () => new Date('2030-01-01T00:00:00Z') }

guestChannelSuite('fake', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-guest-'))
  const driver = createFakeDriver({ clock })
  const spec = makeSpec()
  await driver.ensure(spec)
  return {
    channel: createFakeGuestChannel(driver, folder),
    id: spec.id,
    inside: async () => driver.machines.get(spec.id)!.inside,
    stop: () => driver.power(spec.id, 'stop'),
    close: () => rm(folder, { recursive: true }),
  }
})

test('error: no-agent never answers', async () => {
  const driver = createFakeDriver({ clock })
  const spec = makeSpec({ hostname: 'no-agent-1' })
  await driver.ensure(spec)
  const channel = createFakeGuestChannel(driver, tmpdir())
  expect(await channel.alive(spec.id)).toBe(false)
})
