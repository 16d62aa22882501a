import { expect, test } from 'vitest'
import { vpsDriverSuite } from '../ports/suites/vps-driver.suite.ts'
import type { VpsDriver, VpsSpec } from '../ports/vps-driver.ts'
import { makeSpec, makeVpsId } from '../testing.ts'
import { createIncusClient, IncusUnreachableError } from './client.ts'
import { createIncusDriver } from './driver.ts'
import { instanceName, KEY } from './instance.ts'
import { type RecordedCluster, startRecordedCluster } from './testing-server.ts'

/*
 * The driver against recorded answers. What a real cluster and real machines do is in driver.cluster.test.ts.
 */

const IMAGE = 'a'.repeat(64)

async function start() {
  const cluster = await startRecordedCluster()
  cluster.images.add(IMAGE)
  const client = createIncusClient({
    members: cluster.members,
    project: 'coinrack',
    certificate: cluster.certificate,
    key: cluster.key,
    clusterCertificate: cluster.certificate,
    timeoutMs: 300,
  })
  let looks = 0
  const isUp = async ({ host }: { host: string }) =>
    [...cluster.instances.values()].some(
      ({ status, devices }) => status === 'Running' && devices.eth0?.['ipv4.address'] === host,
    )
  const driver = createIncusDriver({
    client,
    member: 'node2',
    pool: 'cow',
    network: { bridge: 'br0', prefixLength: 16, gateway: '198.18.0.1', resolver: '198.18.0.1' },
    images: {
      import: async () => {},
      fingerprintOf: async (slug) => {
        if (slug === 'debian-12') return IMAGE
        throw Object.assign(new Error('There is no such image'), { code: 'image_unknown' })
      },
      status: async () => [{ slug: 'debian-12', state: 'ready' }],
    },
    ssh: {
      answers: isUp,
      // A first boot takes some looks.
      hasHostKey: async (address) => (await isUp(address)) && ++looks % 4 === 0,
    },
    clock: { now: () => new Date() },
    log: { info: () => {} },
  })
  const close = async () => {
    await client.close()
    await cluster.close()
  }
  return { cluster, client, driver, close }
}

let last = 0
const newSpec = () => {
  const ipv4 = `198.18.0.${++last}`
  return makeSpec({ id: makeVpsId(), addresses: { ipv4 }, sshAddress: { host: ipv4, port: 22 } })
}
const instanceOf = (cluster: RecordedCluster, id: string) => cluster.instances.get(instanceName(id))

async function untilReady(driver: VpsDriver, spec: VpsSpec): Promise<void> {
  do await driver.ensure(spec)
  while (!(await driver.observe(spec.id)).sshReady)
}

vpsDriverSuite('recorded answers of Incus', async () => {
  const { cluster, driver, close } = await start()
  return {
    driver,
    newSpec: async () => newSpec(),
    pause: async () => {},
    crash: async (id) => {
      instanceOf(cluster, id)!.status = 'Stopped'
    },
    traces: async (id) => {
      const instance = instanceOf(cluster, id)
      return instance ? [...(instance.status === 'Running' ? ['process'] : []), 'instance'] : []
    },
    close,
  }
})

test('behavior: whichever answer is lost or delayed, the calls repeated end with one machine that is whole', async () => {
  const { cluster, driver, close } = await start()
  try {
    for (const fault of ['lost', 'hang'] as const)
      for (let number = 0; number < 12; number++) {
        const spec = newSpec()
        let seen = 0
        cluster.meddle = () => (seen++ === number ? fault : undefined)
        let ready = false
        for (let attempt = 0; attempt < 20 && !ready; attempt++) {
          await driver.ensure(spec).catch(() => {})
          ready = (await driver.observe(spec.id).catch(() => undefined))?.sshReady ?? false
        }
        expect(ready, `${fault} ${number}`).toBe(true)
        const instance = instanceOf(cluster, spec.id)!
        expect(instance).toMatchObject({ location: 'node2', status: 'Running' })
        // No secret stays behind.
        expect(instance.config['cloud-init.user-data']).toBeUndefined()
      }
    expect(cluster.instances.size).toBe(24)
  } finally {
    await close()
  }
}, 60_000)

test('behavior: an instance that was never finished is made again; one that runs is kept', async () => {
  const { cluster, driver, close } = await start()
  try {
    const spec = newSpec()
    const left = {
      name: instanceName(spec.id),
      status: 'Stopped',
      location: 'node3',
      config: { [KEY.id]: spec.id },
      devices: {},
      last_used_at: new Date(0).toISOString(),
    }
    cluster.instances.set(left.name, left)
    expect(await driver.observe(spec.id)).toMatchObject({ state: 'stopped', sshReady: false })
    await driver.ensure(spec)
    expect(instanceOf(cluster, spec.id)).toMatchObject({ location: 'node2', config: { [KEY.made]: '1' } })
    const { last_used_at } = instanceOf(cluster, spec.id)!
    delete instanceOf(cluster, spec.id)!.config[KEY.made]
    await driver.ensure(spec)
    expect(instanceOf(cluster, spec.id)!.last_used_at).toBe(last_used_at)
  } finally {
    await close()
  }
})

test('behavior: a member that is away makes its machines unreachable, and no other call waits for it twice', async () => {
  const { cluster, driver, close } = await start()
  try {
    const spec = newSpec()
    await untilReady(driver, spec)
    expect(await driver.observe(spec.id)).toMatchObject({ state: 'running', sshReady: true })
    cluster.setAway('node2', true)
    expect(await driver.observe(spec.id)).toEqual({ state: 'unreachable', sshReady: false })
    expect((await driver.observeAll()).get(spec.id)).toEqual({ state: 'unreachable', sshReady: false })
    await expect(driver.power(spec.id, 'start')).rejects.toThrow()
    cluster.setAway('node2', false)
    expect(await driver.observe(spec.id)).toMatchObject({ state: 'running' })
  } finally {
    await close()
  }
})

test('behavior: a change at boot is taken by the next start, and its secret goes then', async () => {
  const { cluster, driver, close } = await start()
  try {
    const spec = newSpec()
    await untilReady(driver, spec)
    const { id } = spec
    await driver.changeAtBoot(id, { hostname: 'other', rootPasswordHash: '$6$salt$hash' })
    expect(await driver.observe(id)).toMatchObject({ bootChange: 'waiting' })
    expect(instanceOf(cluster, id)!.config['cloud-init.user-data']).toMatch(/^#coinrack-seed\n/)
    await driver.power(id, 'reboot', 2)
    expect(await driver.observe(id)).toMatchObject({ bootChange: 'taken', boot: 2 })
    expect(instanceOf(cluster, id)!.config['cloud-init.user-data']).toBeUndefined()
  } finally {
    await close()
  }
})

test('behavior: a disk only grows, and processors and memory hold from the next start', async () => {
  const { cluster, driver, close } = await start()
  try {
    const spec = newSpec()
    await untilReady(driver, spec)
    await driver.power(spec.id, 'stop')
    await driver.ensure({ ...spec, vcpus: 4, diskGb: spec.diskGb + 7 })
    await driver.ensure({ ...spec, vcpus: 4, diskGb: 1 })
    expect(instanceOf(cluster, spec.id)).toMatchObject({
      config: { 'limits.cpu': '4' },
      devices: { root: { size: `${spec.diskGb + 7}GiB` } },
    })
  } finally {
    await close()
  }
})

test('behavior: of calls with one number one boot comes, whichever is asked for; without its power the machine is started again', async () => {
  const { cluster, driver, close } = await start()
  const spec = newSpec()
  await untilReady(driver, spec)
  const boots = () =>
    cluster.calls.filter((call) => call.endsWith(`PUT /1.0/instances/${instanceName(spec.id)}/state`)).length
  await driver.power(spec.id, 'reboot', 7)
  const before = boots()
  for (const action of ['reboot', 'reset', 'start'] as const) await driver.power(spec.id, action, 7)
  expect(boots()).toBe(before)
  await driver.power(spec.id, 'force_stop')
  await driver.power(spec.id, 'reboot', 7)
  expect(await driver.observe(spec.id)).toMatchObject({ state: 'running', boot: 7 })
  await driver.power(spec.id, 'reset', 8)
  expect(boots()).toBe(before + 4)
  await close()
})

test('behavior: a wait that a busy member does not answer is asked again; when it stays silent, what became of the change is unknown', async () => {
  const { cluster, client, close } = await start()
  try {
    // Each of the three members is asked, twice.
    let silent = 6
    cluster.meddle = (call) => (/operations\/.*\/wait/.test(call) && silent-- > 0 ? 'lost' : undefined)
    const change = () =>
      client.change('POST', '/1.0/instances', { query: { target: 'node2' }, body: { name: `vps-${silent}` } })
    expect(await change()).toMatchObject({ status_code: 200 })
    silent = Number.POSITIVE_INFINITY
    await expect(change()).rejects.toThrow(IncusUnreachableError)
  } finally {
    await close()
  }
})
