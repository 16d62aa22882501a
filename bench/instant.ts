/**
 * The time a clone saves: seconds from `ensure` to a login over SSH when the machine is a clone of a booted template,
 * beside a cold boot of the same image by the same driver; and what a clone takes of memory. With `user-data`, all of
 * them have user data, and it is measured as well when that is done.
 *
 *   npm run bench:instant -- [image] [clones] [cold boots] [vcpus] [memory in MB] [user-data]
 *
 * Cold boots are spread among the clones, so that both see the same load. As root, on a host that runs nothing else.
 */
import { readFile, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeSshAccess } from '@coinrack/compute/local-vps/testing.ts'
import { makeCloningDriver, makeDataFolder } from '@coinrack/compute/local-vps/testing-clones.ts'
import type { BootKind } from '@coinrack/compute/ports/vps-driver.ts'
import { adoptDetached } from '@coinrack/host/detached-process.ts'

const [image = 'debian-12', clones = '20', boots = '4', vcpus = '1', memoryMb = '512', ...more] =
  process.argv.slice(2)
const userData = more.includes('user-data') ? '#cloud-config\nruncmd: [touch /root/done]\n' : undefined
const isRoot = process.getuid?.() === 0
const cacheFolder =
  process.env.COINRACK_CACHE ?? (isRoot ? '/var/cache/coinrack' : join(homedir(), '.cache/coinrack'))
const shape = { image, vcpus: Number(vcpus), memoryMb: Number(memoryMb), diskGb: 10 }
const POLL_MS = 50

const dataFolder = await makeDataFolder()
const { driver, said } = await makeCloningDriver({
  dataFolder,
  cacheFolder,
  clock: { now: () => new Date() },
})
const { accelerator } = await driver.prepare(console.log)

interface Machine {
  /** Seconds until the driver says that SSH answers. */
  ready: number
  /** Seconds until a login is through. */
  login: number
  /** Seconds until its user data is done, if it has any. */
  done: number
  /** Its share of the host's memory, and the memory that is its own alone, in MB. */
  pss: number
  own: number
}

async function order(boot: BootKind): Promise<Machine> {
  const access = await makeSshAccess({ ...shape, boot, ...(userData && { userData }) })
  const { id } = access.spec
  said.length = 0
  const begin = performance.now()
  for (;;) {
    await driver.ensure(access.spec)
    if ((await driver.observe(id)).sshReady) break
    await sleep(POLL_MS)
  }
  const ready = secondsSince(begin)
  await access.byKey('true')
  const login = secondsSince(begin)
  if (userData) await access.byKey('cloud-init status --wait && cat /root/done')
  const done = secondsSince(begin)
  if (said.includes('machine cloned') !== (boot === 'auto')) throw new Error(`Not as ordered: ${said}`)
  const pid = await adoptDetached(join(dataFolder, 'machines', id, 'qemu.pid'))
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  const mb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(rollup)![1]) / 1024
  await driver.destroy(id)
  return { ready, login, done, pss: mb('Pss'), own: mb('Private_Dirty') + mb('Private_Clean') }
}

const secondsSince = (begin: number) => (performance.now() - begin) / 1000
const quantile = (values: number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!

const begin = performance.now()
await driver.keepTemplate(shape)
console.log(`template built in ${secondsSince(begin).toFixed(1)} s`)

const cloned: Machine[] = []
const booted: Machine[] = []
const every = Math.ceil(Number(clones) / Number(boots))
for (let round = 0; round < Number(clones); round++) {
  if (round % every === 0) {
    booted.push(await order('cold'))
    console.log(`cold boot ${booted.length}: logged in after ${booted.at(-1)!.login.toFixed(1)} s`)
  }
  cloned.push(await order('auto'))
  const { ready, login } = cloned.at(-1)!
  console.log(`clone ${round + 1}: ready after ${ready.toFixed(2)} s, logged in after ${login.toFixed(2)} s`)
}
await rm(dataFolder, { recursive: true })

const row = (name: string, values: number[], digits: number) => {
  const [p50, p95] = [0.5, 0.95].map((share) => quantile(values, share).toFixed(digits))
  console.log(`${name.padEnd(36)} p50 ${p50}  p95 ${p95}  n ${values.length}`)
}
const of = (machines: Machine[], name: keyof Machine) => machines.map((machine) => machine[name])
console.log(`\n${image}, ${accelerator}, ${shape.vcpus} vCPU, ${shape.memoryMb} MB`)
row('clone: order -> SSH answers, s', of(cloned, 'ready'), 2)
row('clone: order -> logged in, s', of(cloned, 'login'), 2)
row('cold boot: order -> SSH answers, s', of(booted, 'ready'), 1)
row('cold boot: order -> logged in, s', of(booted, 'login'), 1)
if (userData) {
  row('clone: order -> user data done, s', of(cloned, 'done'), 1)
  row('cold boot: order -> user data done, s', of(booted, 'done'), 1)
}
row('memory of a clone, PSS, MB', of(cloned, 'pss'), 0)
row('of it its own, MB', of(cloned, 'own'), 0)
for (const name of ['login', ...(userData ? (['done'] as const) : [])] as const) {
  const ratio = quantile(of(booted, name), 0.5) / quantile(of(cloned, name), 0.5)
  console.log(`ratio cold boot to clone until ${name}, p50: ${ratio.toFixed(1)}`)
}
