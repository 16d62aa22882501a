import { chown, copyFile, link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import type { DiskImage } from '../images/disk-images.ts'
import { DriverError } from '../ports/vps-driver.ts'

/*
 * The content of a machine's disk file may come from a guest that has taken its QEMU over, and it can name other files:
 * once a guest has had it, every program that reads it runs as the machine's user.
 */

const GIB = 1024 ** 3
const SECTOR = 512
/** Where the partition table begins in a boot sector. */
const FIRST_ENTRY = 446
/** Keeps files in the making apart, also of makers in one process. */
let partsMade = 0

/**
 * Keeps the image's disk among the machines' data under its own name, and returns its path: machines are overlays of
 * it, and a cache may be emptied at any time. Costs no space where cache and data share a file system.
 */
export async function keepBaseDisk(image: DiskImage, folder: string): Promise<string> {
  const kept = join(folder, `${image.name}.qcow2`)
  if (await exists(kept)) return kept
  await mkdir(folder, { recursive: true, mode: 0o755 })
  try {
    await link(image.disk, kept)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return kept
    if (code !== 'EXDEV' && code !== 'EPERM') throw error
    const copy = `${kept}.${process.pid}-${++partsMade}.part`
    try {
      await copyFile(image.disk, copy)
      await rename(copy, kept)
    } finally {
      await rm(copy, { force: true })
    }
  }
  return kept
}

export interface DiskWish {
  base: string
  /** Without `mbr` nothing boots from the disk, or what it holds grows itself. */
  image: Pick<DiskImage, 'diskGb' | 'mbr'>
  diskGb: number
  owner: RunAs | undefined
}

/**
 * Makes a machine's disk: an overlay with `diskGb` GiB of the image's disk, which is kept as `base`. In an image of our own
 * the partition reaches to its end; what others hold they grow themselves.
 * A disk that exists is left alone, also when another process makes it at the same moment.
 */
export async function makeDisk(disk: string, { base, image, diskGb, owner }: DiskWish): Promise<void> {
  if (await exists(disk)) return
  if (!(diskGb >= image.diskGb))
    throw new DriverError('spec_invalid', `A disk of ${diskGb} GB can't hold the image`)
  const part = `${disk}.${process.pid}-${++partsMade}.part`
  try {
    // By a relative path the data folder can be moved as a whole.
    const backing = relative(dirname(disk), base)
    await runCommand('qemu-img', [
      'create',
      '-q',
      '-f',
      'qcow2',
      '-b',
      backing,
      '-F',
      'qcow2',
      part,
      `${diskGb}G`,
    ])
    if (image.mbr !== undefined) await writeMbr(part, { mbr: image.mbr, diskGb })
    if (owner) await chown(part, owner.uid, owner.gid)
    // Unlike a rename, a link never replaces a disk that is there.
    await link(part, disk).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(part, { force: true })
  }
}

/** Writes the boot sector into a disk that no machine uses, its partition reaching to the end of `diskGb` GiB. */
export async function writeMbr(
  disk: string,
  { mbr, diskGb }: { mbr: string; diskGb: number },
): Promise<void> {
  const sector = `${disk}.mbr`
  try {
    await writeFile(sector, growPartition(await readFile(mbr), diskGb * GIB))
    await writeSector(disk, sector)
  } finally {
    await rm(sector, { force: true })
  }
}

/**
 * Grows a disk that nothing uses, and its partition, from `fromGb` to `toGb` GiB. A partition table that is not the
 * image's any more is left alone. May be cut short at any point and then repeated.
 */
export async function growDisk(
  disk: string,
  { fromGb, toGb, owner: user }: { fromGb: number; toGb: number; owner: RunAs | undefined },
): Promise<void> {
  if ((await diskSizeGb(disk, user)) < toGb)
    await runCommand('qemu-img', ['resize', '-q', '-f', 'qcow2', disk, `${toGb}G`], { user })
  const sector = `${disk}.${process.pid}-${++partsMade}.mbr`
  try {
    const of = (file: string) => [`of=${file}`, `bs=${SECTOR}`, 'count=1']
    await writeFile(sector, '', { mode: 0o600 })
    if (user) await chown(sector, user.uid, user.gid)
    await runCommand('qemu-img', ['dd', '-f', 'qcow2', '-O', 'raw', `if=${disk}`, ...of(sector)], { user })
    const mbr = await readFile(sector)
    if (!isOnlyPartition(mbr, fromGb * GIB)) return
    await writeFile(sector, growPartition(mbr, toGb * GIB))
    await writeSector(disk, sector, user)
  } finally {
    await rm(sector, { force: true })
  }
}

/** As the guest sees it, also while it runs. */
export async function diskSizeGb(disk: string, user: RunAs | undefined): Promise<number> {
  const info = ['info', '-U', '--output=json', '-f', 'qcow2', disk]
  const { stdout } = await runCommand('qemu-img', info, { user })
  const { 'virtual-size': size } = JSON.parse(stdout) as { 'virtual-size': number }
  return size / GIB
}

/** Whether a boot sector has one Linux partition, which reaches to the end of a disk of `diskBytes`. */
export function isOnlyPartition(mbr: Buffer, diskBytes: number): boolean {
  const LINUX = 0x83
  const end = mbr.readUInt32LE(FIRST_ENTRY + 8) + mbr.readUInt32LE(FIRST_ENTRY + 12)
  const others = mbr.subarray(FIRST_ENTRY + 16, FIRST_ENTRY + 64)
  return mbr[FIRST_ENTRY + 4] === LINUX && end === diskBytes / SECTOR && others.every((byte) => byte === 0)
}

const writeSector = (disk: string, sector: string, user?: RunAs) =>
  runCommand('qemu-io', ['-f', 'qcow2', '-c', `write -s ${basename(sector)} 0 ${SECTOR}`, disk], {
    cwd: dirname(disk),
    user,
  })

/** The boot sector with its first partition reaching to the end of a disk of `diskBytes`. */
export function growPartition(mbr: Buffer, diskBytes: number): Buffer {
  const grown = Buffer.from(mbr)
  const start = grown.readUInt32LE(FIRST_ENTRY + 8)
  grown.writeUInt32LE(Math.floor(diskBytes / SECTOR) - start, FIRST_ENTRY + 12)
  return grown
}

/** Host disk that a file really takes, in bytes; 0 when it is not there. */
export async function allocatedBytes(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined)
  return (found?.blocks ?? 0) * SECTOR
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )
