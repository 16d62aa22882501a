import { createFakeConsole, type FakeConsole } from '@coinrack/compute/fake/console.ts'
import { createFakeDriver, type FakeDriver, type FakeDriverOptions } from '@coinrack/compute/fake/driver.ts'
import { createFakeGuestChannel, type FakeGuestChannel } from '@coinrack/compute/fake/guest-channel.ts'
import { createFakeMigration, type FakeMigration } from '@coinrack/compute/fake/migration.ts'
import {
  type HostMode,
  type HostPorts,
  hostModes,
  late,
  lossy,
  poorFeatures,
} from '@coinrack/compute/fake/modes.ts'
import { createFakeRetainedDisks, type FakeRetainedDisks } from '@coinrack/compute/fake/retained-disks.ts'
import { createFakeSnapshots, type FakeSnapshots } from '@coinrack/compute/fake/snapshots.ts'
import type { HostFeatures } from '@coinrack/compute/ports/vps-driver.ts'
import { LOCAL_HOST, type MachineHost } from '../platform/machine-host.ts'

/** A host whose ports are fakes. */
export interface FakeHost extends MachineHost {
  driver: FakeDriver
  guests: FakeGuestChannel
  console: FakeConsole
  snapshots: FakeSnapshots
  retainedDisks: FakeRetainedDisks
}

/** @param guestFolder where its machines have their files */
export function fakeHost(
  host: Pick<MachineHost, 'id' | 'region' | 'network'>,
  options: FakeDriverOptions,
  guestFolder: string,
): FakeHost {
  const driver = createFakeDriver(options)
  return {
    ...host,
    kind: 'fake',
    isRemote: host.id !== LOCAL_HOST,
    driver,
    guests: createFakeGuestChannel(driver, guestFolder),
    console: createFakeConsole(driver),
    snapshots: createFakeSnapshots(driver),
    retainedDisks: createFakeRetainedDisks(driver),
  }
}

/** Makes a cluster of hosts, of which the one that is called `east-1` is its member of the same name. */
export function joinCluster(
  name: string,
  hosts: readonly FakeHost[],
  { hasSharedDisks = false } = {},
): FakeMigration {
  const migration = createFakeMigration(new Map(hosts.map((host) => [host.id, host])), { hasSharedDisks })
  for (const host of hosts) host.cluster = { name, member: host.id, hasSharedDisks, migration }
  return migration
}

/** Tests that mean nothing where hosts are so: theirs are as good as fakes can be. All of them stand here, with the reason. */
const EXCEPTIONS = {
  /** A step in which a host did not answer is a gap, and these tests are about what is seen of every single step. */
  'metrics of each step': ['lossy', 'late'],
} satisfies Record<string, HostMode[]>
export type Exception = keyof typeof EXCEPTIONS

/** How the hosts of a test are: `COINRACK_TEST_HOSTS`, or as good as fakes can be. */
export function hostMode(exception?: Exception): HostMode | undefined {
  const { COINRACK_TEST_HOSTS: wanted } = process.env
  if (!wanted || (exception && EXCEPTIONS[exception].some((mode) => mode === wanted))) return undefined
  const mode = hostModes.find((each) => each === wanted)
  if (!mode)
    throw new Error(`COINRACK_TEST_HOSTS is "${wanted}", and has to be one of ${hostModes.join(', ')}`)
  return mode
}

/** The seed of this process: it decides which answers of lossy hosts are lost. */
const seed = Number(process.env.COINRACK_TEST_SEED ?? Date.now() & 0x7fffffff)
let isSeedTold = false

/** The features of a host in a mode, with those that the test needs. */
export const featuresIn = (
  mode: HostMode | undefined,
  needed: readonly (keyof HostFeatures)[],
): Partial<HostFeatures> =>
  mode === 'poor' ? { ...poorFeatures, ...Object.fromEntries(needed.map((name) => [name, true])) } : {}

/** A host as the service sees it in a mode. */
export function hostIn<P extends HostPorts>(mode: HostMode | undefined, host: P): P {
  if (mode === 'late') return late(host)
  if (mode !== 'lossy') return host
  if (!isSeedTold) console.log(`Lossy hosts: COINRACK_TEST_SEED=${seed}`)
  isSeedTold = true
  return lossy(host, seed)
}
