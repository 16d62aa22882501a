import { setTimeout as sleep } from 'node:timers/promises'
import { answersSsh } from '@coinrack/host/answers-ssh.ts'
import { makeSshAccess } from '../local-vps/testing.ts'
import { vpsConsoleSuite } from '../ports/suites/console.suite.ts'
import { lackedFeaturesSuite } from '../ports/suites/lacked-features.suite.ts'
import { migrationSuite } from '../ports/suites/migration.suite.ts'
import { retainedDisksSuite } from '../ports/suites/retained-disks.suite.ts'
import { vpsSnapshotsSuite } from '../ports/suites/snapshot.suite.ts'
import { countingUserData, vpsDriverSuite } from '../ports/suites/vps-driver.suite.ts'
import { makeVpsId } from '../testing.ts'
import { isNotFound } from './client.ts'
import { createIncusConsole } from './console.ts'
import { instanceName } from './instance.ts'
import { createIncusMigration } from './migration.ts'
import { noGuestChannel } from './no-guest-channel.ts'
import { createIncusRetainedDisks } from './retained-disks.ts'
import { createIncusSnapshots } from './snapshots.ts'
import { crashInstance, labClient, labDriver, newAddress } from './testing-lab.ts'

/** A real cluster of three members, and real machines on one of them. */

vpsDriverSuite('a member of an Incus cluster', async () => {
  const client = labClient()
  const { driver, images } = labDriver(client, 'node2')
  await images.import('debian-12')
  const ipv4 = newAddress()
  const access = await makeSshAccess({
    image: 'debian-12',
    vcpus: 1,
    hostname: 'web-1.example.net',
    userData: countingUserData,
    addresses: { ipv4 },
    sshAddress: { host: ipv4, port: 22 },
  })
  return {
    driver,
    newSpec: async () => access.spec,
    pause: () => sleep(500),
    crash: (id) => crashInstance(client, id),
    traces: async (id) => {
      const path = `/1.0/instances/${instanceName(id)}`
      const found = await client.get<{ status: string }>(path).catch((error) => {
        if (isNotFound(error)) return undefined
        throw error
      })
      return found ? [...(found.value.status === 'Running' ? ['process'] : []), 'instance'] : []
    },
    inside: (_, command) => access.byKey(command),
    close: () => client.close(),
  }
})

vpsSnapshotsSuite('a member of an Incus cluster', async () => {
  const { driver, access, close, client } = await runningMachine()
  const { byKey: inside } = access
  return {
    snapshots: createIncusSnapshots(client),
    features: (await driver.inventory()).features,
    id: access.spec.id,
    write: async (text) => void (await inside(`echo '${text}' >/root/text; sync`)),
    read: () => inside('cat /root/text'),
    startProgram: async () => void (await inside('setsid -f sleep 123456 >/dev/null 2>&1')),
    programRuns: async () => (await inside('pgrep -fx "sleep 123456" || true')) !== '',
    close,
  }
})

lackedFeaturesSuite('a member of an Incus cluster', async () => {
  const { driver, access, close, client } = await runningMachine()
  return {
    driver,
    snapshots: createIncusSnapshots(client),
    retainedDisks: createIncusRetainedDisks(client),
    console: createIncusConsole(client),
    guests: noGuestChannel,
    spec: access.spec,
    newSpec: (addresses) => ({ ...access.spec, id: makeVpsId(), addresses }),
    close,
  }
})

vpsConsoleSuite('a member of an Incus cluster', async () => {
  const { driver, access, close, client } = await runningMachine()
  const { features } = await driver.inventory()
  return { console: createIncusConsole(client), features, id: access.spec.id, close }
})

retainedDisksSuite('a member of an Incus cluster', async () => {
  const { driver, access, close, client } = await runningMachine()
  const { byKey: inside, spec } = access
  const answers = async () => {
    while (!(await driver.observe(spec.id)).sshReady) await sleep(500)
  }
  return {
    retainedDisks: createIncusRetainedDisks(client),
    features: (await driver.inventory()).features,
    driver,
    spec,
    write: async (text) => {
      await answers()
      await inside(`echo '${text}' >/root/text; sync`)
    },
    read: async () => {
      await answers()
      return inside('cat /root/text')
    },
    close,
  }
})

migrationSuite('the members of an Incus cluster', async () => {
  const { driver, access, close, client } = await runningMachine()
  const { byKey: inside, spec } = access
  const answers = async () => {
    while (!(await answersSsh(spec.sshAddress))) await sleep(500)
  }
  const ask = async (command: string) => {
    await answers()
    return inside(command)
  }
  return {
    migration: createIncusMigration(client),
    hosts: [
      { name: 'node3', driver },
      { name: 'node1', driver: labDriver(client, 'node1').driver },
    ],
    spec,
    isLive: true,
    write: async (text) => void (await ask(`echo '${text}' >/root/text; sync`)),
    read: () => ask('cat /root/text'),
    bootId: () => ask('cat /proc/sys/kernel/random/boot_id'),
    close,
  }
})

/** A machine whose first boot is complete. */
async function runningMachine() {
  const client = labClient()
  const { driver, images } = labDriver(client, 'node3')
  await images.import('debian-12')
  const ipv4 = newAddress()
  const access = await makeSshAccess({
    image: 'debian-12',
    memoryMb: 512,
    addresses: { ipv4 },
    sshAddress: { host: ipv4, port: 22 },
  })
  const { spec } = access
  do {
    await driver.ensure(spec)
    await sleep(500)
  } while (!(await driver.observe(spec.id)).sshReady)
  const close = async () => {
    await driver.destroy(spec.id)
    await client.close()
  }
  return { client, driver, access, close }
}
