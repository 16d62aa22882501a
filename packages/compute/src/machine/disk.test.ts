import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { growPartition, makeDisk } from './disk.ts'

let folder: string
let base: string
let mbr: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-disk-'))
  base = join(folder, 'base.qcow2')
  mbr = join(folder, 'mbr')
  const raw = join(folder, 'raw')
  await runCommand('truncate', ['-s', '2G', raw])
  await runCommand('sfdisk', ['-q', raw], { input: 'start=2048, type=83, bootable\n' })
  await runCommand('dd', [`if=${raw}`, `of=${mbr}`, 'bs=512', 'count=1', 'status=none'])
  await runCommand('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', raw, base])
  await rm(raw)
})

afterEach(() => rm(folder, { recursive: true }))

const make = (disk: string, diskGb = 5) =>
  makeDisk(disk, { base, image: { diskGb: 2, mbr }, diskGb, owner: undefined })

test('default: an overlay of the size asked for, whose partition reaches to its end', async () => {
  const disk = join(folder, 'disk.qcow2')
  await make(disk)
  const flat = join(folder, 'flat')
  await runCommand('qemu-img', ['convert', '-O', 'raw', disk, flat])
  const { stdout } = await runCommand('sfdisk', ['--json', flat])
  expect(JSON.parse(stdout).partitiontable.partitions).toMatchObject([
    { start: 2048, size: (5 * 1024 ** 3) / 512 - 2048, bootable: true },
  ])
})

test('behavior: a disk that exists is left alone, also by makers at the same moment', async () => {
  const disk = join(folder, 'disk.qcow2')
  await Promise.all([make(disk), make(disk)])
  await writeFile(disk, 'data')
  await make(disk)
  const { stdout } = await runCommand('cat', [disk])
  expect(stdout).toBe('data')
  expect((await readdir(folder)).filter((name) => name.includes('part'))).toEqual([])
})

test("behavior: nothing is written to the disk of somebody else's image", async () => {
  const disk = join(folder, 'disk.qcow2')
  const image = { name: 'nova', disk: base, diskGb: 2 }
  await makeDisk(disk, { base, image, diskGb: 5, owner: undefined })
  // Beyond the end of the smaller one nothing but zeros is the same.
  await runCommand('qemu-img', ['compare', base, disk])
  await expect(
    makeDisk(`${disk}.small`, { base, image: { ...image, diskGb: 6 }, diskGb: 5, owner: undefined }),
  ).rejects.toMatchObject({ code: 'spec_invalid' })
})

test('error: a disk that can not hold the image', async () => {
  await expect(make(join(folder, 'small.qcow2'), 1)).rejects.toMatchObject({ code: 'spec_invalid' })
})

test('behavior: only the length of the first partition changes in the boot sector', () => {
  const sector = Buffer.alloc(512, 7)
  sector.writeUInt32LE(2048, 446 + 8)
  const grown = growPartition(sector, 10 * 1024 ** 3)
  expect(grown.readUInt32LE(446 + 12)).toBe((10 * 1024 ** 3) / 512 - 2048)
  expect(grown.subarray(0, 446 + 12)).toEqual(sector.subarray(0, 446 + 12))
  expect(grown.subarray(446 + 16)).toEqual(sector.subarray(446 + 16))
})
