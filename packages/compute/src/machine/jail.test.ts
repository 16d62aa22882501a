import { chmod, chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { adoptDetached, startDetached, stopDetached } from '@coinrack/host/detached-process.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createJail, rightsFor } from './jail.ts'

/** A group of these tests alone: no user of the host is in it. */
const GROUP = 2_000_080_000
const user = { uid: 2_000_080_001, gid: 2_000_080_001, groups: [] }

describe.skipIf(process.getuid?.() !== 0)('the rights of a QEMU on this host', () => {
  let folder: string
  let device: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'coinrack-jail-test-'))
    await chmod(folder, 0o755)
    device = join(folder, 'accelerator')
    // As /dev/kvm is where a group may use it; what it leads to is /dev/null.
    await runCommand('mknod', ['-m', '660', device, 'c', '1', '3'])
    await chown(device, 0, GROUP)
  })
  afterAll(() => rm(folder, { recursive: true }))

  /** A real process with these rights. */
  const tries = async (accelerator: 'kvm' | 'tcg') => {
    const rights = await rightsFor(user, accelerator, device)
    const run = (...line: string[]) => runCommand('sh', ['-c', ...line], { user: rights })
    const { stdout } = await run('grep ^Groups: /proc/self/status')
    const opens = await run(`exec 3<>${device}`).then(
      () => true,
      () => false,
    )
    return { groups: stdout.replace('Groups:', '').trim(), opens }
  }

  test('default: where the processor runs guests, the group of its device and no other', async () => {
    expect(await tries('kvm')).toEqual({ groups: String(GROUP), opens: true })
  })

  test('default: where instructions are translated, no group, also where the device has one', async () => {
    expect(await tries('tcg')).toEqual({ groups: '', opens: false })
  })

  test('error: a program that cannot begin in there is an error with its reason, and holds no lock', async () => {
    const { jail, pidFile, logFile } = await jailed()
    const missing = { name: 'A test', command: 'no-such-program', args: [], pidFile, logFile, jail }
    await expect(startDetached({ ...missing, cwd: folder })).rejects.toThrow(/no-such-program: No such file/)
    expect(await adoptDetached(pidFile)).toBeUndefined()
  })

  test('default: what begins in there is known by its number on the host, is found again, and can be ended', async () => {
    const { jail, pidFile, logFile } = await jailed()
    const args = ['-nodefaults', '-no-user-config', '-display', 'none', '-machine', 'none']
    const qemu = { name: 'A test', command: 'qemu-system-x86_64', args, pidFile, logFile, jail, cwd: folder }
    const pid = await startDetached(qemu)
    expect(await adoptDetached(pidFile)).toBe(pid)
    await expect(startDetached(qemu)).rejects.toThrow('runs already')
    expect(await readdir(`/proc/${pid}/root/machines/machine`)).toEqual((await readdir(folder)).sort())
    await stopDetached(pidFile, { signal: 'SIGKILL' })
    expect(await adoptDetached(pidFile)).toBeUndefined()
  })

  test.each([
    ['kvm', String(GROUP)],
    ['tcg', ''],
  ] as const)(
    'default: a QEMU that runs by %s has the group of the device or none',
    async (accelerator, group) => {
      const { jail, pidFile, logFile } = await jailed(await rightsFor(user, accelerator, device))
      const args = ['-nodefaults', '-no-user-config', '-display', 'none', '-machine', 'none']
      const qemu = {
        name: 'A test',
        command: 'qemu-system-x86_64',
        args,
        pidFile,
        logFile,
        jail,
        cwd: folder,
      }
      const status = await readFile(`/proc/${await startDetached(qemu)}/status`, 'utf8')
      await stopDetached(pidFile, { signal: 'SIGKILL' })
      expect(/^Groups:[ \t]*(.*?) *$/m.exec(status)![1]).toBe(group)
    },
  )

  // Last, since it takes the device from its group.
  test('behavior: of a device that its group may not use, or that is not there, no group', async () => {
    await chmod(device, 0o600)
    expect(await tries('kvm')).toEqual({ groups: '', opens: false })
    expect((await rightsFor(user, 'kvm', join(folder, 'missing')))!.groups).toEqual([])
    expect(await rightsFor(undefined, 'kvm', device)).toBeUndefined()
  })

  const jailed = async (rights: RunAs = user) => {
    const cacheFolder = process.env.COINRACK_CACHE ?? '/var/cache/coinrack'
    const { enter } = createJail({ cacheFolder, baseImages: join(folder, 'none'), log: { info() {} } })
    const jail = (await enter({ folder, user: rights, accelerator: 'tcg' }))!
    return { jail, pidFile: join(folder, 'qemu.pid'), logFile: join(folder, 'qemu.log') }
  }
})
