import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createQemuDriver, type QemuDriver } from '../local-vps/driver.ts'
import { makeSpec } from '../testing.ts'
import { DEFAULT_PARENT, groupFolders } from './control-groups/control-groups.ts'
import { type Machine, machineAt, runningPid } from './machine.ts'
import { groupsOfDevice, KVM } from './machine-users.ts'

/** Two real machines that need not boot: what the process of one can do to the other, and to the host. */

const IMAGE = process.env.COINRACK_TEST_IMAGE ?? 'debian-13'
const cacheFolder =
  process.env.COINRACK_CACHE ??
  (process.getuid?.() === 0 ? '/var/cache/coinrack' : join(homedir(), '.cache/coinrack'))

describe.skipIf(process.getuid?.() !== 0)('isolation of QEMU', { timeout: 3 * 60_000 }, () => {
  const [specA, specB] = [20_401, 20_402].map((port) =>
    makeSpec({ image: IMAGE, sshAddress: { host: '127.0.0.1', port: port + 2 * (process.pid % 1000) } }),
  ) as [ReturnType<typeof makeSpec>, ReturnType<typeof makeSpec>]
  let dataFolder: string
  let driver: QemuDriver
  let a: Machine
  let b: Machine
  let pidOfA: number
  let pidOfB: number
  let user: RunAs
  let isKvm: boolean
  let groups: number[]

  beforeAll(async () => {
    dataFolder = await mkdtemp(join(tmpdir(), 'coinrack-vps-'))
    await runCommand('chmod', ['711', dataFolder])
    const clock = { now: () => new Date() }
    driver = createQemuDriver({
      ...{ dataFolder, cacheFolder, clock },
      user: await serviceUser(),
      log: { info: () => {} },
    })
    isKvm = (await driver.prepare(() => {})).accelerator === 'kvm'
    groups = isKvm ? await groupsOfDevice(KVM) : []
    for (const spec of [specA, specB]) await driver.ensure(spec)
    a = machineAt(join(dataFolder, 'machines'), specA.id)
    b = machineAt(join(dataFolder, 'machines'), specB.id)
    pidOfA = (await runningPid(a))!
    pidOfB = (await runningPid(b))!
    const { uid, gid } = await stat(a.disk)
    user = { uid, gid, groups: [] }
  }, 30 * 60_000)

  afterAll(async () => {
    for (const spec of [specA, specB]) await driver.destroy(spec.id)
    await rm(dataFolder, { recursive: true })
  })

  const status = (pid: number) => readFile(`/proc/${pid}/status`, 'utf8')
  /** As the user of the first machine, with nothing but that user's rights. */
  const tries = (...command: string[]) =>
    runCommand(command[0]!, command.slice(1), { user }).then(
      () => 'allowed',
      () => 'refused',
    )

  test('default: each process has a user of its own, no capability, a filter of system calls', async () => {
    const [ofA, ofB] = [await status(pidOfA), await status(pidOfB)]
    expect(ofA).toMatch(new RegExp(`^Uid:\\t${user.uid}\\t${user.uid}\\t${user.uid}\\t${user.uid}$`, 'm'))
    expect(ofB).not.toContain(String(user.uid))
    for (const text of [ofA, ofB]) {
      for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'])
        expect(text).toContain(`Cap${set}:\t${'0'.repeat(16)}`)
      expect(text).toMatch(/^Seccomp:\t2$/m)
      expect(text).toMatch(/^NoNewPrivs:\t1$/m)
      expect(text).toMatch(new RegExp(`^Groups:\\s*${groups.join(' ')}\\s*$`, 'm'))
    }
    const limits = await readFile(`/proc/${pidOfA}/limits`, 'utf8')
    expect(limits).toMatch(/^Max core file size +0 +0 /m)
    expect(limits).toMatch(/^Max open files +1024 +1024 /m)
    expect(limits).toMatch(/^Max processes +512 +512 /m)
    expect(limits).toMatch(/^Max locked memory +0 +0 /m)
  })

  test('default: it sees nothing of the host but itself, its folder and the images', async () => {
    const names = async (path: string) => (await readdir(`/proc/${pidOfA}/root${path}`)).sort()
    expect(await names('/')).toEqual([
      ...['base-images', 'bin', 'dev', 'etc', 'lib', 'lib64', 'machines', 'proc', 'sbin', 'usr'],
    ])
    expect(await names('/etc')).toEqual(['ld.so.cache'])
    expect(await names('/usr/bin')).toEqual(['qemu-system-x86_64'])
    expect(await names('/usr/sbin')).toEqual([])
    expect(await names('/usr/share')).toEqual(['qemu', 'seabios'])
    expect(await names('/machines')).toEqual(['machine'])
    expect(await names('/machines/machine')).toEqual((await readdir(a.folder)).sort())
    expect(await names('/base-images')).toEqual((await readdir(join(dataFolder, 'base-images'))).sort())
    const mounts = await readFile(`/proc/${pidOfA}/mounts`, 'utf8')
    const flags = [...mounts.matchAll(/^\S+ (\S+) \S+ (\S+)/gm)].map(([, at, options]) => {
      const kept = options!.split(',').filter((one) => /^(ro|rw|nosuid|nodev|noexec|subset=pid)$/.test(one))
      return `${at} ${kept.join(',')}`
    })
    expect(flags.slice(0, 4)).toEqual([
      '/ ro,nosuid,nodev',
      '/machines/machine rw,nosuid,nodev,noexec',
      '/base-images ro,nosuid,nodev,noexec',
      '/proc rw,nosuid,nodev,noexec,subset=pid',
    ])
    const devices = ['null', 'urandom', ...(isKvm ? ['kvm'] : [])]
    expect(flags.slice(4).map((flag) => flag.split(' ')[0])).toEqual(devices.map((name) => `/dev/${name}`))
  })

  test('default: namespaces of its own, in which it is the only process', async () => {
    for (const kind of ['mnt', 'pid', 'ipc', 'uts', 'net']) {
      const of = async (pid: number | 'self') => (await stat(`/proc/${pid}/ns/${kind}`)).ino
      expect([kind, new Set([await of(pidOfA), await of(pidOfB), await of('self')]).size]).toEqual([kind, 3])
    }
    expect(await status(pidOfA)).toMatch(new RegExp(`^NSpid:\\t${pidOfA}\\t1$`, 'm'))
    const seen = (await readdir(`/proc/${pidOfA}/root/proc`)).filter((name) => !Number.isNaN(Number(name)))
    expect(seen).toEqual(['1'])
  })

  test('behavior: it reaches no file, no socket and no memory of the other', async () => {
    expect(await tries('dd', `if=${a.disk}`, 'of=/dev/null', 'count=1')).toBe('allowed')
    const files = [b.disk, b.seed, b.serialLog, b.logFile, b.recordFile, b.pidFile]
    for (const file of files)
      expect([file, await tries('dd', `if=${file}`, 'of=/dev/null', 'count=1')]).toEqual([file, 'refused'])
    for (const socket of [b.monitor, b.console, b.screen, b.agent])
      expect([
        socket,
        await tries(
          'perl',
          '-MIO::Socket::UNIX',
          '-e',
          'IO::Socket::UNIX->new(Peer => shift) or exit 1',
          socket,
        ),
      ]).toEqual([socket, 'refused'])
    const memory = `open(my $m, "<", "/proc/${pidOfB}/mem") or exit 1`
    expect(await tries('perl', '-e', memory)).toBe('refused')
    expect(await tries('ls', `/proc/${pidOfB}/fd`)).toBe('refused')
    expect(await tries('kill', '-0', String(pidOfB))).toBe('refused')
    expect(await tries('ls', b.folder)).toBe('refused')
  })

  test('behavior: of its own it reaches what it works with, and no socket once it runs', async () => {
    for (const file of [a.recordFile, a.logFile, a.networkFile, a.pidFile])
      expect([file, await tries('dd', `of=${file}`, 'if=/dev/zero', 'count=1', 'conv=notrunc')]).toEqual([
        file,
        'refused',
      ])
    for (const socket of [a.monitor, a.console, a.screen, a.agent])
      expect([socket, await tries('test', '-e', socket)]).toEqual([socket, 'refused'])
    expect(await tries('ln', '-s', '/etc/shadow', join(a.folder, 'run', 'more.sock'))).toBe('refused')
    expect(await tries('ln', '-s', '/etc/shadow', `${a.recordFile}.part`)).toBe('refused')
    expect(await tries('rm', '-f', a.serialLog)).toBe('refused')
  })

  test('behavior: the image that machines build on is read, and never written', async () => {
    const [name] = await readdir(join(dataFolder, 'base-images'))
    const image = join(dataFolder, 'base-images', name!)
    expect(await tries('dd', `if=${image}`, 'of=/dev/null', 'count=1')).toBe('allowed')
    expect(await tries('dd', 'if=/dev/zero', `of=${image}`, 'count=0', 'conv=notrunc')).toBe('refused')
    expect(await tries('touch', join(dataFolder, 'base-images', 'other'))).toBe('refused')
  })

  test('behavior: no network of the host, and no tap but its own', async () => {
    const namespaceOf = async (pid: number | 'self') => (await stat(`/proc/${pid}/ns/net`)).ino
    expect(
      new Set([await namespaceOf(pidOfA), await namespaceOf(pidOfB), await namespaceOf('self')]).size,
    ).toBe(3)
    expect(await tries('nsenter', `--net=/proc/${pidOfB}/ns/net`, 'true')).toBe('refused')
    expect(await tries('ip', 'tuntap', 'add', 'mine', 'mode', 'tap')).toBe('refused')
  })

  test('default: what it takes of the host is limited, and all that it took was counted', async () => {
    const folders = (await groupFolders(DEFAULT_PARENT, specA.id)).filter((folder) => existsSync(folder))
    if (folders.length === 0) return
    const read = async (...names: string[]) => {
      const files = folders.flatMap((folder) => names.map((name) => join(folder, name)))
      const all = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')))
      return all.join('').trim()
    }
    for (const folder of folders)
      expect(await readFile(join(folder, 'cgroup.procs'), 'utf8')).toBe(`${pidOfA}\n`)
    expect(await read('cpu.cfs_quota_us', 'cpu.max')).toMatch(/^100000( 100000)?$/)
    expect(await read('memory.limit_in_bytes', 'memory.max')).toBe(String(1024 * 1024 ** 2))
    expect(await read('pids.max')).toBe('129')
    const resident = Number(/^RssAnon:\s+(\d+)/m.exec(await status(pidOfA))![1]) * 1024
    expect(Number(await read('memory.usage_in_bytes', 'memory.current'))).toBeGreaterThan(resident * 0.8)
  })

  test('behavior: nothing of a user is left when its machine is gone', async () => {
    const { uid } = await stat(b.disk)
    expect(await readdir('/run/coinrack/users')).toContain(String(uid))
    await driver.destroy(specB.id)
    expect((await groupFolders(DEFAULT_PARENT, specB.id)).filter((folder) => existsSync(folder))).toEqual([])
    expect(await readdir('/run/coinrack/users')).not.toContain(String(uid))
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    const statuses = await Promise.all(pids.map((pid) => status(Number(pid)).catch(() => '')))
    // A process that its parent has yet to reap holds nothing any more.
    const all = statuses.filter((text) => !/^State:\tZ/m.test(text))
    expect(all.filter((text) => text.includes(`Uid:\t${user.uid}\t`))).toHaveLength(1)
    expect(all.filter((text) => text.includes(`Uid:\t${uid}\t`))).toEqual([])
  })
})
