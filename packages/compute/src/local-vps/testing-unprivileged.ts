import { setTimeout as sleep } from 'node:timers/promises'
import type { VpsSpec } from '../ports/vps-driver.ts'
import { createQemuDriver } from './driver.ts'

/*
 * Runs one machine as the user who runs this program, who need not be root. It prints what it sees once SSH answers; at
 * the end of its standard input the machine is destroyed.
 */

export interface UnprivilegedRun {
  dataFolder: string
  cacheFolder: string
  spec: VpsSpec
}

const { dataFolder, cacheFolder, spec } = JSON.parse(process.argv[2]!) as UnprivilegedRun
const driver = createQemuDriver({
  dataFolder,
  cacheFolder,
  user: undefined,
  clock: { now: () => new Date() },
  log: { info: () => {} },
})
const refused = await driver
  .ensure({ ...spec, sshAddress: { host: '198.18.0.7', port: 22 }, addresses: { ipv4: '198.18.0.7' } })
  .catch((error) => error.code)
await driver.ensure(spec)
while (!(await driver.observe(spec.id)).sshReady) {
  await driver.ensure(spec)
  await sleep(500)
}
console.log(JSON.stringify({ refused, ownNetworks: (await driver.inventory()).features.firewall }))
for await (const _ of process.stdin) {
  // It ends with the program that started this.
}
await driver.destroy(spec.id)
