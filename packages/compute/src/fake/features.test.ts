import { tmpdir } from 'node:os'
import { lackedFeaturesSuite } from '../ports/suites/lacked-features.suite.ts'
import type { HostFeatures, OwnAddresses } from '../ports/vps-driver.ts'
import { makeSpec } from '../testing.ts'
import { createFakeConsole } from './console.ts'
import { allFeatures, createFakeDriver } from './driver.ts'
import { createFakeGuestChannel } from './guest-channel.ts'
import { createFakeRetainedDisks } from './retained-disks.ts'
import { createFakeSnapshots } from './snapshots.ts'

const reachedAt = (addresses: OwnAddresses) => ({
  addresses,
  ...(addresses.ipv4 !== undefined && { sshAddress: { host: addresses.ipv4, port: 22 } }),
})

for (const feature of Object.keys(allFeatures) as (keyof HostFeatures)[])
  lackedFeaturesSuite(`fake without ${feature}`, async () => {
    const features = { [feature]: false }
    const driver = createFakeDriver({ clock: { now: () => new Date(0) }, features })
    const spec = makeSpec(reachedAt(feature === 'portForwarding' ? { ipv4: '198.18.0.6' } : {}))
    await driver.ensure(spec)
    return {
      driver,
      snapshots: createFakeSnapshots(driver),
      retainedDisks: createFakeRetainedDisks(driver),
      console: createFakeConsole(driver),
      guests: createFakeGuestChannel(driver, tmpdir()),
      spec,
      newSpec: (addresses) => makeSpec(reachedAt(addresses)),
    }
  })
