import { createFakeConsole, type FakeConsole } from '@coinrack/compute/fake/console.ts'
import { createFakeDriver, type FakeDriver, type FakeDriverOptions } from '@coinrack/compute/fake/driver.ts'
import { createFakeGuestChannel, type FakeGuestChannel } from '@coinrack/compute/fake/guest-channel.ts'
import { createFakeRetainedDisks, type FakeRetainedDisks } from '@coinrack/compute/fake/retained-disks.ts'
import { createFakeSnapshots, type FakeSnapshots } from '@coinrack/compute/fake/snapshots.ts'
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
