import { open } from 'node:fs/promises'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { CommandError, runCommand } from '@coinrack/host/run-command.ts'
import { ImageRefusedError } from './added-image.ts'

export type DiskFormat = 'qcow2' | 'raw'

export interface InspectedDisk {
  format: DiskFormat
  virtualBytes: number
}

const GIB = 1024 ** 3
const HEADER_BYTES = 64 * 1024
const LARGEST_GIB = 256

/** The positions in a qcow2 header, in bytes. */
const at = { version: 4, backing: 8, size: 24, encryption: 32, features: 72, headerLength: 100 } as const
/** Features that change how to read the disk and name no other file: dirty, compression type, extended L2 entries. */
const HARMLESS_FEATURES = 1n | (1n << 3n) | (1n << 4n)
const EXTERNAL_DATA = 1n << 2n
const EXTENSION_END = 0
const EXTENSIONS_WITH_FILES: Record<number, string> = {
  3799591626: 'a backing file',
  1145132097: 'a data file',
}

const foreign: [name: string, offset: number, magic: string][] = [
  ['an xz archive', 0, 'fd377a585a00'],
  ['a gzip archive', 0, '1f8b'],
  ['a bzip2 archive', 0, '425a68'],
  ['a Zstandard archive', 0, '28b52ffd'],
  ['a ZIP archive', 0, '504b0304'],
  ['a VMDK disk', 0, '4b444d56'],
  ['a VHDX disk', 0, '7668647866696c65'],
  ['a VHD disk', 0, '636f6e6563746978'],
  ['a VDI disk', 64, '7f10dabe'],
  ['a QED disk', 0, '51454400'],
]

/** Address space and processor time of a program that reads an image: a prepared one could ask for endless much of both. */
const LIMITS = ['--as=2147483648', '--cpu=120']

/**
 * The maker of an image could have prepared it, so its header is read here before any program opens it: nothing in it
 * may name another file, whose content a machine would then show.
 * @throws ImageRefusedError for a file that is no bootable disk, or that refers to something outside itself
 */
export function readDiskHeader(head: Buffer): DiskFormat {
  for (const [name, offset, magic] of foreign) {
    if (head.toString('hex', offset, offset + magic.length / 2) === magic)
      throw new ImageRefusedError(`The file is ${name}: only qcow2 and raw disks are taken`)
  }
  if (head.toString('latin1', 0, 4) !== 'QFI\xfb') {
    if (head.length >= 512 && head.readUInt16LE(510) === 0xaa55) return 'raw'
    throw new ImageRefusedError('The file is no disk: neither qcow2, nor raw with a boot sector')
  }
  if (head.length < 104) throw new ImageRefusedError('The qcow2 header is cut short')
  const version = head.readUInt32BE(at.version)
  if (version !== 2 && version !== 3) throw new ImageRefusedError(`qcow2 of version ${version} is not known`)
  if (head.readBigUInt64BE(at.backing) !== 0n) refuse('a backing file')
  if (head.readUInt32BE(at.encryption) !== 0) throw new ImageRefusedError('The disk is encrypted')
  const features = version === 3 ? head.readBigUInt64BE(at.features) : 0n
  if (features & EXTERNAL_DATA) refuse('a data file')
  if (features & ~HARMLESS_FEATURES)
    throw new ImageRefusedError(`The qcow2 features ${features.toString(16)} are damaged or not known`)
  readExtensions(head, version === 3 ? head.readUInt32BE(at.headerLength) : 72)
  return 'qcow2'
}

function readExtensions(head: Buffer, start: number): void {
  for (let offset = start; offset + 8 <= head.length; ) {
    const type = head.readUInt32BE(offset)
    if (type === EXTENSION_END) return
    const named = EXTENSIONS_WITH_FILES[type]
    if (named) refuse(named)
    offset += 8 + Math.ceil(head.readUInt32BE(offset + 4) / 8) * 8
  }
  throw new ImageRefusedError('The qcow2 header has no end')
}

function refuse(what: string): never {
  throw new ImageRefusedError(`The disk refers to ${what}: it would show files of this host`)
}

/** Inspects an untrusted disk as a user with few rights. */
export async function inspectDisk(file: string, reader: RunAs | undefined): Promise<InspectedDisk> {
  const format = readDiskHeader(await readHead(file))
  const info = await runCommand(
    'prlimit',
    [...LIMITS, 'qemu-img', 'info', '--output=json', '-f', format, file],
    { user: reader },
  ).catch(refuseCommand('qemu-img cannot read the disk'))
  const seen = JSON.parse(info.stdout) as Record<string, unknown>
  const virtualBytes = Number(seen['virtual-size'])
  if ('backing-filename' in seen) refuse('a backing file')
  if (!(virtualBytes > 0 && virtualBytes <= LARGEST_GIB * GIB))
    throw new ImageRefusedError(
      `A disk of ${Math.ceil(virtualBytes / GIB)} GiB is too large: at most ${LARGEST_GIB}`,
    )
  return { format, virtualBytes }
}

/**
 * Writes the disk anew as plain qcow2, without snapshots or anything else that it came with.
 * @param mostBytes of the new file
 */
export async function rewriteDisk(
  file: string,
  to: string,
  { format, mostBytes, reader }: { format: DiskFormat; mostBytes: number; reader: RunAs | undefined },
): Promise<void> {
  const limits = ['--as=2147483648', `--fsize=${Math.floor(mostBytes)}`]
  const convert = ['qemu-img', 'convert', '-f', format, '-O', 'qcow2', file, to]
  await runCommand('prlimit', [...limits, ...convert], { user: reader, timeoutMs: 60 * 60_000 }).catch(
    refuseCommand('The disk cannot be read to its end, or there is no room for it'),
  )
}

const refuseCommand = (what: string) => (error: Error) => {
  if (!(error instanceof CommandError)) throw error
  throw new ImageRefusedError(`${what}: ${error.stderr || error.message}`, { cause: error })
}

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
