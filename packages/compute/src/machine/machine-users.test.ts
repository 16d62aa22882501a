import { chown, mkdtemp, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeVpsId } from '../testing.ts'
import { createMachineUsers, giveFolder, groupsOfDevice, makeFolder } from './machine-users.ts'

/** Used by no other program, and by no other run of these tests. */
const from = 2_010_000_000 + (process.pid % 100_000) * 10
const ids = { from, to: from + 2 }

let machines: string
beforeEach(async () => {
  machines = await mkdtemp(join(tmpdir(), 'coinrack-users-'))
  await runCommand('chmod', ['711', machines])
})
afterEach(() => rm(machines, { recursive: true }))

test('default: without numbers to give, all run as the caller', async () => {
  const users = createMachineUsers(machines, undefined)
  const id = makeVpsId()
  expect(await users.of(id, join(machines, id))).toBeUndefined()
  await users.free(id, join(machines, id))
})

test('default: the group of a device is the one that may use it', async () => {
  expect(await groupsOfDevice(join(machines, 'none'))).toEqual([])
  const device = join(machines, 'device')
  await writeFile(device, '', { mode: 0o600 })
  expect(await groupsOfDevice(device)).toEqual([])
})

describe.skipIf(process.getuid?.() !== 0)('as root', () => {
  const claimed: { id: string; folder: string }[] = []
  const take = async (users = createMachineUsers(machines, ids), id = makeVpsId()) => {
    const folder = join(machines, id)
    const user = (await users.of(id, folder))!
    await makeFolder(folder, user)
    claimed.push({ id, folder })
    return { id, folder, user }
  }
  afterEach(async () => {
    const users = createMachineUsers(machines, ids)
    for (const { id, folder } of claimed.splice(0)) await users.free(id, folder)
  })
  const as = (user: { uid: number; gid: number; groups?: number[] }, ...command: string[]) =>
    runCommand(command[0]!, command.slice(1), { user }).then(
      ({ stdout }) => stdout,
      () => 'refused',
    )

  test('behavior: what was claimed for a folder that nobody was given yet is freed as well', async () => {
    const users = createMachineUsers(machines, { from: ids.from, to: ids.from })
    const [first, second] = [makeVpsId(), makeVpsId()]
    const folder = join(machines, first)
    await makeFolder(folder, undefined)
    await users.of(first, folder)
    await users.free(first, folder)
    const next = await take(users, second)
    expect(next.user.uid).toBe(ids.from)
  })

  test('default: each machine has a user of its own, for ever', async () => {
    const [a, b, c] = [await take(), await take(), await take()]
    expect(new Set([a.user.uid, b.user.uid, c.user.uid]).size).toBe(3)
    expect(a.user.gid).toBe(a.user.uid)
    const later = createMachineUsers(machines, ids)
    expect(await later.of(b.id, b.folder)).toEqual(b.user)
    await expect(take()).rejects.toMatchObject({ code: 'no_space' })
  })

  test('behavior: a number that was given up goes to another', async () => {
    const [a] = [await take(), await take(), await take()]
    const users = createMachineUsers(machines, ids)
    await users.free(a.id, a.folder)
    await rm(a.folder, { recursive: true })
    expect((await take(users)).user.uid).toBe(a.user.uid)
  })

  test('behavior: after a restart of the host nobody gets the number of a machine that was there before', async () => {
    const earlier = await take()
    await unlink(`/run/coinrack/users/${earlier.user.uid}`)
    const users = createMachineUsers(machines, ids)
    const others = [await take(users), await take(users)].map(({ user }) => user.uid)
    expect(others).not.toContain(earlier.user.uid)
  })

  test('behavior: a number that another service has given out by now is changed, and the files with it', async () => {
    const a = await take()
    const disk = join(a.folder, 'disk')
    await writeFile(disk, '')
    await chown(disk, a.user.uid, a.user.gid)
    const claim = `/run/coinrack/users/${a.user.uid}`
    await unlink(claim)
    await symlink('vps_other', claim)
    const changed = (await createMachineUsers(machines, ids).of(a.id, a.folder))!
    expect(changed.uid).not.toBe(a.user.uid)
    await giveFolder(a.folder, changed, [disk, join(a.folder, 'none')])
    expect(await stat(disk)).toMatchObject({ uid: changed.uid, gid: changed.gid })
    await unlink(claim)
  })

  test('behavior: a machine reaches its own files by name, makes none, and reaches none of another', async () => {
    const [a, b] = [await take(), await take()]
    for (const { folder, user } of [a, b]) {
      await writeFile(join(folder, 'disk'), 'data', { mode: 0o600 })
      await chown(join(folder, 'disk'), user.uid, user.gid)
      await writeFile(join(folder, 'machine.json'), '{}', { mode: 0o600 })
    }
    expect(await as(a.user, 'cat', join(a.folder, 'disk'))).toBe('data')
    expect(await as(a.user, 'cat', join(b.folder, 'disk'))).toBe('refused')
    expect(await as(a.user, 'cat', join(a.folder, 'machine.json'))).toBe('refused')
    expect(await as(a.user, 'ln', '-sf', '/etc/shadow', join(a.folder, 'machine.json'))).toBe('refused')
    expect(await as(a.user, 'touch', join(a.folder, 'new'))).toBe('refused')
    expect(await as(a.user, 'ls', a.folder)).toBe('refused')
    expect(await as(a.user, 'ls', machines)).toBe('refused')
  })

  test('behavior: it has no group but its own, no capability, and no way to one', async () => {
    const { user } = await take()
    const status = await as({ ...user, groups: [] }, 'cat', '/proc/self/status')
    expect(status).toMatch(new RegExp(`^Uid:\\t${user.uid}\\t${user.uid}\\t${user.uid}\\t${user.uid}$`, 'm'))
    expect(status).toMatch(/^Groups:\s*$/m)
    for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'])
      expect(status).toContain(`Cap${set}:\t${'0'.repeat(16)}`)
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
  })
})
