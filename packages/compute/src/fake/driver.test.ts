import { describe, expect, test } from 'vitest'
import { vpsDriverSuite } from '../ports/suites/vps-driver.suite.ts'
import { makeSpec } from '../testing.ts'
import { createFakeDriver } from './driver.ts'

/** A clock that moves when told. */
function handClock() {
  let now = new Date('2030-01-01T00:00:00Z')
  return {
    now: () => now,
    advance(ms: number) {
      now = new Date(now.getTime() + ms)
    },
  }
}

vpsDriverSuite('fake', async () => {
  const clock = handClock()
  const driver = createFakeDriver({ clock, bootMs: 5_000 })
  return {
    driver,
    newSpec: async () => makeSpec(),
    pause: async () => clock.advance(1_000),
    crash: async (id) => driver.crash(id),
    traces: async (id) => (driver.machines.has(id) ? [`process of ${id}`] : []),
  }
})

describe('fake: failures by name', () => {
  const driver = createFakeDriver({ clock: handClock() })

  test('behavior: slow-boot is ready when told', async () => {
    const spec = makeSpec({ hostname: 'slow-boot' })
    await driver.ensure(spec)
    expect(await driver.observe(spec.id)).toMatchObject({ state: 'running', sshReady: false })
    driver.finishBoot(spec.id)
    expect(await driver.observe(spec.id)).toMatchObject({ state: 'running', sshReady: true })
  })

  test('error: fail-boot never comes up', async () => {
    const spec = makeSpec({ hostname: 'fail-boot-1' })
    await driver.ensure(spec)
    expect(await driver.observe(spec.id)).toMatchObject({ state: 'failed', reason: expect.any(String) })
  })

  test('error: fail-ensure-2 throws twice', async () => {
    const spec = makeSpec({ hostname: 'fail-ensure-2' })
    await expect(driver.ensure(spec)).rejects.toMatchObject({ code: 'guest_failed' })
    await expect(driver.ensure(spec)).rejects.toMatchObject({ code: 'guest_failed' })
    await driver.ensure(spec)
    expect(await driver.observe(spec.id)).toMatchObject({ sshReady: true })
  })

  test('error: no-space', async () => {
    await expect(driver.ensure(makeSpec({ hostname: 'no-space' }))).rejects.toMatchObject({
      code: 'no_space',
    })
  })

  test('error: an image that is not built yet', async () => {
    const empty = createFakeDriver({ clock: handClock(), images: [{ slug: 'debian-12', state: 'building' }] })
    await expect(empty.ensure(makeSpec())).rejects.toMatchObject({ code: 'image_not_ready' })
  })
})
