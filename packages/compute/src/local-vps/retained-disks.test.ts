import { access, chmod, link, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { machineAt, writeRecord } from '../machine/machine.ts'
import { giveFolder, makeFolder } from '../machine/machine-users.ts'
import { makeVpsId } from '../testing.ts'
import { createQemuRetainedDisks } from './retained-disks.ts'

/** Used by no other program, and by no other run of these tests. */
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
  const machine = machineAt(machines, id)
  const sshAddress = { host: '127.0.0.1', port: 2222 }
  await makeFolder(machine.folder, undefined)
  await writeRecord(machine, { vcpus: 1, memoryMb: 512, sshAddress })
  await runCommand('qemu-img', ['create', '-q', '-f', 'qcow2', machine.disk, '1M'])
  await writeFile(machine.cidata, 'who it is')
  const retainedDisks = createQemuRetainedDisks({
    dataFolder,
    machines,
    userOf: async () => undefined,
    alone: (_id, task) => task(),
  })
  await retainedDisks.setAside(id, 'first')
  await rm(machine.folder, { recursive: true })
  await retainedDisks.putBack(id, 'first')
  expect(await readFile(machine.cidata, 'utf8')).toBe('who it is')

  // As a kill leaves it just before the disk is moved.
  const kept = join(dataFolder, 'kept-disks', id, 'second')
  await mkdir(dirname(kept), { recursive: true })
  await link(machine.cidata, `${kept}.iso`)
  await retainedDisks.setAside(id, 'second')
  await rm(machine.folder, { recursive: true })
  await retainedDisks.remove(id, 'second')
  expect(await readdir(dirname(dirname(kept)))).toEqual([])
})

describe.skipIf(process.getuid?.() !== 0)('as root', () => {
  test('error: whoever has the user of a machine that is gone reaches none of its retained disks', async () => {
    const machines = join(dataFolder, 'machines')
    const id = makeVpsId()
    const machine = machineAt(machines, id)
    const sshAddress = { host: '127.0.0.1', port: 2222 }
    const newMachine = async () => {
      await makeFolder(machine.folder, owner)
      await writeRecord(machine, { vcpus: 1, memoryMb: 512, sshAddress })
      await runCommand('qemu-img', ['create', '-q', '-f', 'qcow2', machine.disk, '1M'])
      await giveFolder(machine.folder, owner, [machine.disk])
    }
    const retainedDisks = createQemuRetainedDisks({
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
      await retainedDisks.setAside(id, keptId)
      await rm(machine.folder, { recursive: true })
      expect(await canRead(keptId)).toBe(false)
    }
    expect(await retainedDisks.isSound(id, 'first')).toBe(true)
    expect(await canRead('first')).toBe(false)

    await retainedDisks.putBack(id, 'first')
    expect(await stat(machine.disk)).toMatchObject({ uid: owner.uid })
    await runCommand('cat', [machine.disk], { user: owner })
    expect(await canRead('second')).toBe(false)
    await access(join(folder, 'second.qcow2'))
  })
})
