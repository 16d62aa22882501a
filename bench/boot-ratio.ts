/**
 * What the driver adds to a boot: seconds from `ensure` to a login over SSH, beside the same image booted by hand with
 * the same QEMU options; by hand both as a first boot (with the seed) and as a later one.
 *
 *   node bench/boot-ratio.ts [image] [rounds]
 *
 * Only the ratios mean anything on a busy machine; rounds alternate, so that all three see the same load.
 */
import { spawn } from 'node:child_process'
import { chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createImageStore } from '@coinrack/compute/images/image-store.ts'
import { findAcceleration } from '@coinrack/compute/qemu/acceleration.ts'
import { guestArguments, guestFiles, QEMU } from '@coinrack/compute/qemu/command-line.ts'
import { makeDisk } from '@coinrack/compute/qemu/disk.ts'
import { createQemuDriver } from '@coinrack/compute/qemu/driver.ts'
import { hostClockOptions } from '@coinrack/compute/qemu/host-clock.ts'
import { makeSeed } from '@coinrack/compute/qemu/seed.ts'
import { makeSshAccess, type SshAccess } from '@coinrack/compute/qemu/testing.ts'
import { asUser } from '@coinrack/host/as-user.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'

const [image = 'debian-12', rounds = '3'] = process.argv.slice(2)
const isRoot = process.getuid?.() === 0
const cacheFolder =
  process.env.COINRACK_CACHE ?? (isRoot ? '/var/cache/coinrack' : join(homedir(), '.cache/coinrack'))
const user = await serviceUser()
const built = await createImageStore({ cacheFolder }).ensure(image, console.log)
const { accelerator } = await findAcceleration({ cacheFolder, image: built, user, onProgress: console.log })
const clockOptions = await hostClockOptions()
const shape = { image, vcpus: 2, memoryMb: 1024, diskGb: 10 }

async function byDriver(folder: string): Promise<{ ready: number; login: number }> {
  const clock = { now: () => new Date() }
  const driver = createQemuDriver({ dataFolder: folder, cacheFolder, user, clock, log: { info() {} } })
  const access = await makeSshAccess(shape)
  const begin = performance.now()
  do {
    await driver.ensure(access.spec)
    await sleep(100)
  } while (!(await driver.observe(access.spec.id)).sshReady)
  const ready = secondsSince(begin)
  await access.byKey('true')
  const login = secondsSince(begin)
  await driver.destroy(access.spec.id)
  return { ready, login }
}

async function byHand(folder: string): Promise<{ first: number; later: number }> {
  const access = await makeSshAccess(shape)
  const begin = performance.now()
  const disk = join(folder, guestFiles.disk)
  await makeDisk(disk, { base: built.disk, mbr: built.mbr, diskGb: shape.diskGb, owner: user })
  const seed = join(folder, guestFiles.seed)
  await writeFile(seed, makeSeed(access.spec, new Date()))
  if (user) await chown(seed, user.uid, user.gid)
  await bootByHand(folder, access, true)
  const first = secondsSince(begin)
  const again = performance.now()
  await bootByHand(folder, access, false)
  return { first, later: secondsSince(again) }
}

/** Until a login, then power off. */
async function bootByHand(folder: string, { spec, byKey }: SshAccess, isFirstBoot: boolean): Promise<void> {
  const { id, vcpus, memoryMb, sshAddress: listen } = spec
  const network = { kind: 'user', listen } as const
  const args = guestArguments({ id, vcpus, memoryMb, accelerator, clockOptions, isFirstBoot, network })
  const serialLog = join(folder, guestFiles.serialLog)
  await rm(serialLog, { force: true })
  const guest = spawn(...asUser(user, QEMU, args), { cwd: folder, stdio: 'inherit' })
  while (!(await readFile(serialLog, 'utf8').catch(() => '')).includes('ssh is up')) await sleep(100)
  await byKey('sync')
  guest.kill()
  await new Promise((resolve) => guest.once('exit', resolve))
}

const secondsSince = (begin: number) => (performance.now() - begin) / 1000
const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

const results: Record<'ready' | 'login' | 'first' | 'later', number[]> = {
  ready: [],
  login: [],
  first: [],
  later: [],
}
for (let round = 1; round <= Number(rounds); round++) {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-bench-'))
  await runCommand('chmod', ['755', folder])
  if (user) await chown(folder, user.uid, user.gid)
  const measured = { ...(await byDriver(folder)), ...(await byHand(folder)) }
  for (const [name, seconds] of Object.entries(measured)) results[name as keyof typeof results].push(seconds)
  console.log(`round ${round}:`, measured)
  await rm(folder, { recursive: true })
}

const ready = median(results.ready)
const login = median(results.login)
const first = median(results.first)
const later = median(results.later)
console.log(
  `\n${image}, ${accelerator}, ${shape.vcpus} vCPU, ${shape.memoryMb} MB, median of ${rounds}, seconds`,
)
console.log(`ensure -> ssh ready            ${ready.toFixed(1)}`)
console.log(`ensure -> logged in            ${login.toFixed(1)}`)
console.log(`by hand, first boot -> login   ${first.toFixed(1)}   ratio ${(login / first).toFixed(2)}`)
console.log(`by hand, later boot -> login   ${later.toFixed(1)}   ratio ${(login / later).toFixed(2)}`)
