import { access, chmod, link, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { guestAt, writeRecord } from '../machine/machine.ts'
import { giveFolder, makeFolder } from '../machine/machine-users.ts'
import { makeVpsId } from '../testing.ts'
import { createQemuKeptDisks } from './retained-disks.ts'

/** Of nobody else, and of no other run of these tests. */
const number = 2_020_000_000 + (process.pid % 100_000)
const owner = { uid: number, gid: number, groups: [] }

let dataFolder: string
beforeEach(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'coinrack-kept-'))
  await chmod(dataFolder, 0o711)
})
afterEach(() => rm(dataFolder, { recursive: true }))

test("behavior: with a disk of somebody else's image goes what its cloud-init looks for, also over a kill", async () => {
  const machines = join(dataFolder, 'machines')
  const id = makeVpsId()
  const guest = guestAt(machines, id)
  const sshAddress = { host: '127.0.0.1', port: 2222 }
  await makeFolder(guest.folder, undefined)
  await writeRecord(guest, { vcpus: 1, memoryMb: 512, sshAddress })
  await runCommand('qemu-img', ['create', '-q', '-f', 'qcow2', guest.disk, '1M'])
  await writeFile(guest.cidata, 'who it is')
  const keptDisks = createQemuKeptDisks({
    dataFolder,
    machines,
    userOf: async () => undefined,
    alone: (_id, task) => task(),
  })
  await keptDisks.setAside(id, 'first')
  await rm(guest.folder, { recursive: true })
  await keptDisks.putBack(id, 'first')
  expect(await readFile(guest.cidata, 'utf8')).toBe('who it is')

  // As a kill leaves it just before the disk is moved.
  const kept = join(dataFolder, 'kept-disks', id, 'second')
  await mkdir(dirname(kept), { recursive: true })
  await link(guest.cidata, `${kept}.iso`)
  await keptDisks.setAside(id, 'second')
  await rm(guest.folder, { recursive: true })
  await keptDisks.remove(id, 'second')
  expect(await readdir(dirname(dirname(kept)))).toEqual([])
})

describe.skipIf(process.getuid?.() !== 0)('as root', () => {
  test('error: whoever has the user of a machine that is gone reaches none of its kept disks', async () => {
    const machines = join(dataFolder, 'machines')
    const id = makeVpsId()
    const guest = guestAt(machines, id)
    const sshAddress = { host: '127.0.0.1', port: 2222 }
    const newMachine = async () => {
      await makeFolder(guest.folder, owner)
      await writeRecord(guest, { vcpus: 1, memoryMb: 512, sshAddress })
      await runCommand('qemu-img', ['create', '-q', '-f', 'qcow2', guest.disk, '1M'])
      await giveFolder(guest.folder, owner, [guest.disk])
    }
    const keptDisks = createQemuKeptDisks({
      dataFolder,
      machines,
      userOf: async () => owner,
      alone: (_id, task) => task(),
    })
    const folder = join(dataFolder, 'kept-disks', id)
    const canRead = (keptId: string) =>
      runCommand('cat', [join(folder, `${keptId}.qcow2`)], { user: owner }).then(
        () => true,
        () => false,
      )

    for (const keptId of ['first', 'second']) {
      await newMachine()
      await keptDisks.setAside(id, keptId)
      await rm(guest.folder, { recursive: true })
      expect(await canRead(keptId)).toBe(false)
    }
    expect(await keptDisks.isSound(id, 'first')).toBe(true)
    expect(await canRead('first')).toBe(false)

    await keptDisks.putBack(id, 'first')
    expect(await stat(guest.disk)).toMatchObject({ uid: owner.uid })
    await runCommand('cat', [guest.disk], { user: owner })
    expect(await canRead('second')).toBe(false)
    await access(join(folder, 'second.qcow2'))
  })
})
