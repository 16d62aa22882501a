import { chown, copyFile, link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { CommandError, runCommand } from '@coinrack/host/run-command.ts'
import type { BuiltImage } from '../images/image-store.ts'
import { DriverError } from '../vps-driver.ts'

const GIB = 1024 ** 3
const SECTOR = 512
/** The size that images are built with; a disk can't be smaller. */
const IMAGE_GB = 2
/** Keeps files in the making apart, also of makers in one process. */
let partsMade = 0

/**
 * Keeps the image's disk among the machines' data under its own name, and returns its path: machines are overlays of
 * it, and a cache may be emptied at any time. Costs no space where cache and data share a file system.
 */
export async function keepBaseDisk(image: BuiltImage, folder: string): Promise<string> {
  const kept = join(folder, `${image.name}.qcow2`)
  if (await exists(kept)) return kept
  await mkdir(folder, { recursive: true, mode: 0o755 })
  try {
    await link(image.disk, kept)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return kept
    if (code !== 'EXDEV' && code !== 'EPERM') throw error
    const copy = `${kept}.${process.pid}.part`
    await copyFile(image.disk, copy)
    await rename(copy, kept)
  }
  return kept
}

/**
 * Makes a machine's disk: an overlay of `base` with `diskGb` GiB, whose partition reaches to its end.
 * A disk that exists is left alone, also when another process makes it at the same moment.
 */
export async function makeDisk(
  disk: string,
  { base, mbr, diskGb, owner }: { base: string; mbr: string; diskGb: number; owner: RunAs | undefined },
): Promise<void> {
  if (await exists(disk)) return
  if (!(diskGb >= IMAGE_GB))
    throw new DriverError('spec_invalid', `A disk of ${diskGb} GB can't hold the image`)
  const part = `${disk}.${process.pid}-${++partsMade}.part`
  const sector = `${part}.mbr`
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
    await writeFile(sector, growPartition(await readFile(mbr), diskGb * GIB))
    await runCommand('qemu-io', ['-f', 'qcow2', '-c', `write -s ${basename(sector)} 0 ${SECTOR}`, part], {
      cwd: dirname(part),
    })
    if (owner) await chown(part, owner.uid, owner.gid)
    // Unlike a rename, a link never replaces a disk that is there.
    await link(part, disk).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } catch (error) {
    const isFull =
      (error as NodeJS.ErrnoException).code === 'ENOSPC' ||
      (error instanceof CommandError && error.stderr.includes('No space left'))
    if (isFull) throw new DriverError('no_space', `No space left for ${disk}`, { cause: error })
    throw error
  } finally {
    await rm(part, { force: true })
    await rm(sector, { force: true })
  }
}

/** The boot sector with its first partition reaching to the end of a disk of `diskBytes`. */
export function growPartition(mbr: Buffer, diskBytes: number): Buffer {
  const FIRST_ENTRY = 446
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
