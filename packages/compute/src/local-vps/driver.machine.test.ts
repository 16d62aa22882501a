import { existsSync } from 'node:fs'
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { adoptDetached } from '@coinrack/host/detached-process.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createImageStore } from '../images/image-store.ts'
import { bootsWith, findAcceleration } from '../machine/acceleration.ts'
import { DEFAULT_PARENT, groupFolders } from '../machine/control-groups/control-groups.ts'
import { networkTraces } from '../network/testing.ts'
import { retainedDisksSuite } from '../ports/suites/retained-disks.suite.ts'
import { countingUserData, vpsDriverSuite } from '../ports/suites/vps-driver.suite.ts'
import { createQemuDriver, type QemuDriver } from './driver.ts'
import { makeSshAccess, type SshAccess } from './testing.ts'

/** Real machines. The images are built on the first run (minutes, as root) and kept where the service keeps them. */

const IMAGE = process.env.COINRACK_TEST_IMAGE ?? 'debian-12'
const cacheFolder =
  process.env.COINRACK_CACHE ??
  (process.getuid?.() === 0 ? '/var/cache/coinrack' : join(homedir(), '.cache/coinrack'))
const systemClock = { now: () => new Date() }
const quiet = { info: () => {} }

async function makeDriver(
  dataFolder: string,
  clock = systemClock,
  log: { info(fields: object, message: string): void } = quiet,
) {
  return createQemuDriver({ dataFolder, cacheFolder, user: await serviceUser(), clock, log })
}

async function makeDataFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-vps-'))
  await runCommand('chmod', ['755', folder])
  return folder
}

/** The process ids of every QEMU that was started for the machine. */
async function processesOf(id: string): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    const line = /^\d+$/.test(name) ? await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '') : ''
    if (line.startsWith('qemu-system') && line.includes(`\0${id},`)) found.push(Number(name))
  }
  return found
}

async function listens(port: number): Promise<boolean> {
  const { stdout } = await runCommand('sh', ['-c', 'cat /proc/net/tcp'])
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  return stdout.split('\n').some((line) => line.includes(`:${hex} 00000000:0000 0A`))
}

vpsDriverSuite(`QEMU with ${IMAGE}`, async () => {
  const dataFolder = await makeDataFolder()
  const driver = await makeDriver(dataFolder)
  await driver.prepare(() => {})
  const access = await makeSshAccess({
    image: IMAGE,
    vcpus: 1,
    hostname: 'web-1.example.net',
    userData: countingUserData,
  })
  return {
    driver,
    newSpec: async () => access.spec,
    pause: () => sleep(500),
    crash: async (id) => {
      for (const pid of await processesOf(id)) process.kill(pid, 'SIGKILL')
      while (await adoptDetached(join(dataFolder, 'machines', id, 'qemu.pid'))) await sleep(20)
    },
    traces: async (id) => [
      ...(await processesOf(id)).map((pid) => `process ${pid}`),
      ...(await readdir(join(dataFolder, 'machines', id)).catch(() => [])).map((file) => `file ${file}`),
      ...((await listens(access.spec.sshAddress.port)) ? ['port'] : []),
      ...(await networkTraces(id)),
      ...(await groupFolders(DEFAULT_PARENT, id)).filter((folder) => existsSync(folder)),
    ],
    inside: (_, command) => access.byKey(command),
    close: () => rm(dataFolder, { recursive: true }),
  }
})

describe('QEMU: what only a real machine shows', { timeout: 8 * 60_000 }, () => {
  let dataFolder: string
  let driver: QemuDriver
  let access: SshAccess

  beforeAll(async () => {
    dataFolder = await makeDataFolder()
    driver = await makeDriver(dataFolder)
    await driver.prepare(() => {})
    access = await makeSshAccess({ image: IMAGE, memoryMb: 512, vcpus: 1 })
  }, 30 * 60_000)

  afterAll(async () => {
    await driver.destroy(access.spec.id)
    await rm(dataFolder, { recursive: true })
  })

  test('behavior: a first boot that went silent is reset, and still becomes the machine', async () => {
    const { spec } = access
    const notes: string[] = []
    const anHourOn = { now: () => new Date(Date.now() + 3_600_000) }
    const impatient = await makeDriver(dataFolder, anHourOn, { info: (_, message) => notes.push(message) })
    await driver.ensure(spec)
    await sleep(3_000)
    await impatient.ensure(spec)
    expect(notes).toEqual(['first boot hangs: reset'])
    while (!(await driver.observe(spec.id)).sshReady) await sleep(500)
  })

  test('behavior: one processor and 512 MB are enough, and root enters by password too', async () => {
    expect(await access.byPassword('nproc')).toBe('1')
    expect(await access.byKey('rsync --archive /etc/hostname /root/copy && cat /root/copy')).toBe(
      access.spec.hostname,
    )
  })

  test('behavior: the seed with its secrets is wiped, and gone after the next start', async () => {
    const seed = await readFile(join(dataFolder, 'machines', access.spec.id, 'seed.tar'))
    expect(seed.every((byte) => byte === 0)).toBe(true)
  })

  test('behavior: the guest does not reach a server on the host', async () => {
    const server = createServer((socket) => socket.end('secret\n')).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    try {
      const { stdout } = await runCommand('bash', ['-c', `cat </dev/tcp/127.0.0.1/${port}`])
      expect(stdout).toBe('secret\n')
      const read = `timeout 5 bash -c 'cat </dev/tcp/10.0.2.2/${port}' 2>&1 || echo cut off`
      const seen = await access.byKey(read)
      expect(seen).toContain('cut off')
      expect(seen).not.toContain('secret')
    } finally {
      server.close()
    }
  })

  test('behavior: QEMU runs without privileges, behind a system call filter', async () => {
    const [pid] = await processesOf(access.spec.id)
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    if (process.getuid?.() === 0) expect(status).toMatch(/^Uid:\t20000\d{5}\t/m)
    expect(status).toMatch(/^Seccomp:\t2$/m)
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
    expect(status).toMatch(/^CapEff:\t0+$/m)
  })

  test('behavior: another driver on the same data finds the machine as it is', async () => {
    const next = await makeDriver(dataFolder)
    expect((await next.inventory()).machines).toEqual([access.spec.id])
    const seen = await next.observe(access.spec.id)
    expect(seen).toMatchObject({ state: 'running', sshReady: true })
    expect(seen.metrics!.cpuSeconds).toBeGreaterThan(0)
    expect(seen.metrics!.diskWrittenBytes).toBeGreaterThan(0)
  })

  test('behavior: stop lets the guest shut down by itself', async () => {
    await access.byKey('echo unsynced > /root/late')
    await driver.power(access.spec.id, 'stop')
    const log = await readFile(join(dataFolder, 'machines', access.spec.id, 'serial.log'), 'utf8')
    expect(log).toContain('Power down')
  })

  test('error: a port that is taken is said', async () => {
    const server = createServer().listen(access.spec.sshAddress.port, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    await expect(driver.power(access.spec.id, 'start')).rejects.toMatchObject({ code: 'port_taken' })
    await new Promise((resolve) => server.close(resolve))
    expect(await driver.observe(access.spec.id)).toMatchObject({ state: 'stopped' })
  })

  test('behavior: the accelerator that was found boots a kernel', async () => {
    const store = createImageStore({ cacheFolder })
    const image = await store.get(IMAGE)
    const user = await serviceUser()
    const { accelerator } = await findAcceleration({ cacheFolder, image, user })
    expect(await bootsWith(accelerator, { cacheFolder, image, user })).toBe(true)
  })

  retainedDisksSuite('QEMU', async () => {
    const { spec } = access
    const inside = async (command: string) => {
      while (!(await driver.observe(spec.id)).sshReady) await sleep(500)
      return access.byKey(command)
    }
    await driver.power(spec.id, 'start')
    // Freezing takes an agent that has come up.
    await inside('until systemctl is-active qemu-guest-agent; do sleep 1; done')
    return {
      retainedDisks: driver.retainedDisks,
      driver,
      spec,
      write: async (text) => void (await inside(`echo '${text}' > /root/state`)),
      read: () => inside('cat /root/state'),
      damage: async (keptId) => {
        const file = await open(join(dataFolder, 'kept-disks', spec.id, `${keptId}.qcow2`), 'r+')
        // The reference counts of its first clusters.
        const table = (await file.read(Buffer.alloc(8), 0, 8, 48)).buffer.readBigUInt64BE()
        await file.write(Buffer.alloc(64, 0xff), 0, 64, Number(table))
        await file.close()
      },
    }
  })
})
