import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GuestError } from '../ports/guest-channel.ts'
import { guestChannelSuite } from '../ports/suites/guest-channel.suite.ts'
import { lackedFeaturesSuite } from '../ports/suites/lacked-features.suite.ts'
import { retainedDisksSuite } from '../ports/suites/retained-disks.suite.ts'
import { vpsSnapshotsSuite } from '../ports/suites/snapshot.suite.ts'
import { vpsDriverSuite } from '../ports/suites/vps-driver.suite.ts'
import { DriverError, type HostFeatures, type OwnAddresses } from '../ports/vps-driver.ts'
import { makeSpec } from '../testing.ts'
import { createFakeConsole } from './console.ts'
import { createFakeDriver } from './driver.ts'
import { createFakeGuestChannel } from './guest-channel.ts'
import { type HostMode, type HostPorts, hostModes, late, lossy, poorFeatures } from './modes.ts'
import { createFakeRetainedDisks } from './retained-disks.ts'
import { createFakeSnapshots } from './snapshots.ts'

const seed = Number(process.env.COINRACK_TEST_SEED ?? Date.now() & 0x7fffffff)
let folder: string
beforeAll(async () => {
  console.log(`Lossy hosts: COINRACK_TEST_SEED=${seed}`)
  folder = await mkdtemp(join(tmpdir(), 'coinrack-modes-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** The fakes of a host, and its ports as a mode shows them. */
function host(mode: HostMode, { bootMs = 0, features = {} as Partial<HostFeatures> } = {}) {
  let now = Date.parse('2030-01-01T00:00:00Z')
  const clock = { now: () => new Date(now) }
  const all = mode === 'poor' ? { ...poorFeatures, ...features } : features
  const driver = createFakeDriver({ clock, bootMs, features: all })
  const fakes = {
    driver,
    snapshots: createFakeSnapshots(driver),
    retainedDisks: createFakeRetainedDisks(driver),
    guests: createFakeGuestChannel(driver, folder),
    console: createFakeConsole(driver),
  }
  const ports = mode === 'late' ? late(fakes) : mode === 'lossy' ? lossy(fakes, seed) : fakes
  return { fakes, ports, advance: (ms: number) => (now += ms) }
}

/** The port as it is to a caller that repeats what was not answered. */
function repeated<T extends object>(port: T): T {
  const isAnswer = (error: unknown) =>
    error instanceof DriverError || (error instanceof GuestError && error.code !== 'guest_failed')
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return async (...given: unknown[]) => {
        for (let time = 1; ; time++)
          try {
            return await value.apply(target, given)
          } catch (error) {
            if (isAnswer(error) || time === 4) throw error
          }
      }
    },
  })
}

const repeatedPorts = <P extends HostPorts>(ports: P): P => ({
  ...ports,
  driver: repeated(ports.driver),
  snapshots: repeated(ports.snapshots),
  retainedDisks: repeated(ports.retainedDisks),
  guests: repeated(ports.guests),
})

/** A machine that is ready, on a host whose calls are repeated. */
async function readyHost(mode: HostMode, features?: Partial<HostFeatures>) {
  const { fakes, ports } = host(mode, features ? { features } : {})
  const spec = makeSpec()
  await fakes.driver.ensure(spec)
  const patient = repeatedPorts(ports)
  while (!(await patient.driver.observe(spec.id)).sshReady);
  return { fakes, ports: patient, spec }
}

for (const mode of hostModes) {
  vpsDriverSuite(`fake, ${mode}`, async () => {
    const { fakes, ports, advance } = host(mode, { bootMs: 5_000 })
    return {
      driver: repeated(ports.driver),
      newSpec: async () => makeSpec(),
      pause: async () => void advance(1_000),
      crash: async (id) => fakes.driver.crash(id),
      traces: async (id) => (fakes.driver.machines.has(id) ? [`process of ${id}`] : []),
    }
  })

  vpsSnapshotsSuite(`fake, ${mode}`, async () => {
    const { fakes, ports, spec } = await readyHost(mode)
    const inside = () => fakes.snapshots.stateOf(spec.id)
    return {
      snapshots: ports.snapshots,
      features: fakes.driver.features,
      id: spec.id,
      write: async (text) => {
        inside().file = text
      },
      read: async () => inside().file,
      startProgram: async () => {
        inside().program = 1
      },
      programRuns: async () => inside().program === 1,
      damage: async (snapshotId) => fakes.snapshots.damage(spec.id, snapshotId),
    }
  })

  retainedDisksSuite(`fake, ${mode}`, async () => {
    const { fakes, ports, spec } = await readyHost(mode, { retainedDisks: true })
    const inside = () => fakes.driver.machines.get(spec.id)!.inside
    return {
      ...ports,
      spec,
      write: async (text) => {
        inside().hostname = text
      },
      read: async () => inside().hostname,
      damage: async (keptId) => fakes.retainedDisks.damage(spec.id, keptId),
    }
  })

  // A poor host has no agents.
  if (mode !== 'poor')
    guestChannelSuite(`fake, ${mode}`, async () => {
      const { fakes, ports, spec } = await readyHost(mode)
      return {
        channel: ports.guests,
        id: spec.id,
        inside: async () => fakes.driver.machines.get(spec.id)!.inside,
        stop: () => ports.driver.power(spec.id, 'stop'),
        close: async () => {},
      }
    })

  lackedFeaturesSuite(`fake, ${mode}`, async () => {
    const { ports, spec } = await readyHost(mode, poorFeatures)
    const reachedAt = (addresses: OwnAddresses) => ({
      addresses,
      ...(addresses.ipv4 !== undefined && { sshAddress: { host: addresses.ipv4, port: 22 } }),
    })
    return { ...ports, spec, newSpec: (addresses) => makeSpec(reachedAt(addresses)) }
  })
}

describe('late', () => {
  const after = async (looks: number, driver: HostPorts['driver'], id: string) => {
    for (let look = 1; look < looks; look++) await driver.observe(id)
    return driver.observe(id)
  }

  test('behavior: a call that is given up is done later', async () => {
    const { driver } = host('late').ports
    const spec = makeSpec()
    await expect(driver.ensure(spec)).rejects.toThrow('did not answer in time')
    expect((await driver.inventory()).machines).toEqual([])
    expect(await driver.observe(spec.id)).toMatchObject({ state: 'running', sshReady: false })
    expect(await driver.observe(spec.id)).toMatchObject({ state: 'running', sshReady: true })
    await expect(driver.destroy(spec.id)).rejects.toThrow('did not answer in time')
    expect(await after(2, driver, spec.id)).toMatchObject({ state: 'absent' })
  })

  test('behavior: the same call waits for the one that is under way, and it is done once', async () => {
    const { fakes, ports } = host('late')
    const spec = makeSpec()
    await fakes.driver.ensure(spec)
    await expect(ports.driver.power(spec.id, 'reboot', 1)).rejects.toThrow('did not answer in time')
    await ports.driver.power(spec.id, 'reboot', 1)
    expect(fakes.driver.machines.get(spec.id)).toMatchObject({ starts: 2, boot: 1 })
  })

  test('behavior: another call takes its turn after it', async () => {
    const { fakes, ports } = host('late')
    const spec = makeSpec()
    await expect(ports.driver.ensure(spec)).rejects.toThrow('did not answer in time')
    await expect(ports.driver.power(spec.id, 'stop')).rejects.toThrow('did not answer in time')
    expect(fakes.driver.calls).toEqual([`ensure ${spec.id}`])
    await ports.driver.power(spec.id, 'stop')
    expect(fakes.driver.machines.get(spec.id)!.startedAt).toBeUndefined()
  })
})

describe('lossy', () => {
  /** The fates of so many calls: whether each was answered, and whether it was done. */
  const fates = async (from: number) => {
    const { fakes } = host('poor')
    const { driver } = lossy(fakes, from)
    const spec = makeSpec()
    const fates: string[] = []
    for (let call = 0; call < 200; call++) {
      const before = fakes.driver.calls.length
      const answer = await driver.ensure(spec).then(
        () => 'answered',
        () => 'lost',
      )
      fates.push(`${answer}, ${fakes.driver.calls.length > before ? 'done' : 'not done'}`)
    }
    return fates
  }

  test('behavior: some answers are lost, after the call was done and before; the seed says which', async () => {
    const seen = await fates(7)
    expect(new Set(seen)).toEqual(new Set(['answered, done', 'lost, done', 'lost, not done']))
    expect(seen.filter((fate) => fate.startsWith('answered')).length).toBeGreaterThan(100)
    expect(await fates(7)).toEqual(seen)
    expect(await fates(8)).not.toEqual(seen)
    const three = seen.filter(
      (_, at) => at > 1 && seen.slice(at - 2, at + 1).every((fate) => /^lost/.test(fate)),
    )
    expect(three).toEqual([])
  })
})
