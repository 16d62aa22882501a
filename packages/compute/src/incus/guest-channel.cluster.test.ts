import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '@coinrack/host/run-command.ts'
import { expect, test, vi } from 'vitest'
import { makeSshAccess } from '../local-vps/testing.ts'
import { guestChannelSuite } from '../ports/suites/guest-channel.suite.ts'
import { makeVpsId } from '../testing.ts'
import { createIncusGuestChannel } from './guest-channel.ts'
import { instanceName } from './instance.ts'
import { LAB, labClient, labDriver, newAddress } from './testing-lab.ts'

/*
 * The guest channel through the API of a real cluster. The laboratory has no vsock, which leads to the agents inside machines: so the
 * machine is a container, inside which the cluster answers the same calls itself.
 */

guestChannelSuite('a container of an Incus cluster', async () => {
  const client = labClient()
  const id = makeVpsId()
  const name = instanceName(id)
  await runCommand(LAB, ['container', '1', name], { timeoutMs: 10 * 60_000 })
  const channel = createIncusGuestChannel(client, { bytes: (length) => randomBytes(length) })
  const inLab = async (...words: string[]) =>
    (await runCommand(LAB, ['exec', '1', 'incus', ...words], { timeoutMs: 60_000 })).stdout
  const stop = async () => void (await inLab('stop', '--force', '--project', 'coinrack', name))
  return {
    channel,
    id,
    inside: async () => {
      const text = await inLab(
        ...['exec', '--project', 'coinrack', name, '--', 'sh', '-c'],
        'uname -n; cat /etc/hostname; getent hosts new.name.net | cut -d" " -f1; getent shadow root | cut -d: -f2',
      )
      const [hostname = '', kept, address, rootPasswordHash = ''] = text.split('\n')
      if (kept !== hostname || address !== '127.0.1.1') throw new Error(`The name does not hold: ${text}`)
      return { hostname, rootPasswordHash }
    },
    stop,
    async close() {
      await stop().catch(() => {})
      await inLab('delete', '--project', 'coinrack', name)
      await client.close()
    },
  }
})

test('default: our image starts the agent that the cluster hands to a machine, and it listens on vsock', {
  timeout: 40 * 60_000,
}, async () => {
  const client = labClient()
  const { driver, images } = labDriver(client, 'node3', { guestAgent: true })
  await images.import('debian-12')
  const ipv4 = newAddress()
  const { spec, byKey } = await makeSshAccess({
    image: 'debian-12',
    addresses: { ipv4 },
    sshAddress: { host: ipv4, port: 22 },
  })
  try {
    expect((await driver.inventory()).features.guestCommands).toBe(true)
    do {
      await driver.ensure(spec)
      await sleep(500)
    } while (!(await driver.observe(spec.id)).sshReady)
    const isListening = async () => {
      const seen = await byKey('systemctl is-active coinrack-incus-agent; ss --listening --vsock --no-header')
      return /^active\n/.test(seen) && /LISTEN.*:8443/.test(seen)
    }
    await vi.waitUntil(isListening, { timeout: 120_000, interval: 2_000 })
  } finally {
    await driver.destroy(spec.id)
    await client.close()
  }
})
