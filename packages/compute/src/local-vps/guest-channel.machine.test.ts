import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '@coinrack/host/run-command.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { guestChannelSuite } from '../ports/suites/guest-channel.suite.ts'
import { createQemuDriver } from './driver.ts'
import { createQemuGuestChannel } from './guest-channel.ts'
import { makeSshAccess } from './testing.ts'

/** A real agent in a real machine. */

const cacheFolder =
  process.env.COINRACK_CACHE ??
  (process.getuid?.() === 0 ? '/var/cache/coinrack' : join(homedir(), '.cache/coinrack'))

guestChannelSuite('QEMU guest agent', async () => {
  const dataFolder = await mkdtemp('/tmp/coinrack-agent-')
  await runCommand('chmod', ['755', dataFolder])
  const clock = { now: () => new Date() }
  const user = await serviceUser()
  const driver = createQemuDriver({ dataFolder, cacheFolder, user, clock, log: { info: () => {} } })
  await driver.prepare(() => {})
  const image = process.env.COINRACK_TEST_IMAGE ?? 'debian-12'
  const { spec, byKey } = await makeSshAccess({ image, vcpus: 1 })
  await driver.ensure(spec)
  while (!(await driver.observe(spec.id)).sshReady) {
    await driver.ensure(spec)
    await sleep(500)
  }
  return {
    channel: createQemuGuestChannel({ dataFolder, random: { bytes: (length) => randomBytes(length) } }),
    id: spec.id,
    inside: async () => {
      const text = await byKey(
        'hostname; cat /etc/hostname; getent hosts new.name.net | cut -d" " -f1; getent shadow root | cut -d: -f2',
      )
      const [hostname = '', kept, address, rootPasswordHash = ''] = text.split('\n')
      if (kept !== hostname || address !== '127.0.1.1') throw new Error(`The name does not hold: ${text}`)
      return { hostname, rootPasswordHash }
    },
    stop: () => driver.power(spec.id, 'stop'),
    async close() {
      await driver.destroy(spec.id)
      await rm(dataFolder, { recursive: true })
    },
  }
})
