import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inspectDisk, readDiskHeader, rewriteDisk } from './inspect-disk.ts'

let folder: string
const file = (name: string) => join(folder, name)
const create = async (name: string, ...options: string[]) => {
  await runCommand('qemu-img', ['create', '-q', '-f', 'qcow2', ...options, file(name), '8M'])
  return readFile(file(name))
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-inspect-'))
  await writeFile(file('secret'), 'a secret of the host')
  await truncate(file('secret'), 1024 * 1024)
})
afterAll(() => rm(folder, { recursive: true }))

test.each([
  ['plain', []],
  ['of the old version', ['-o', 'compat=0.10']],
  ['compressed with Zstandard', ['-o', 'compression_type=zstd']],
  ['with extended entries', ['-o', 'extended_l2=on']],
])('default: a qcow2 disk, %s', async (_kind, options) => {
  await create('fine', ...options)
  expect(await inspectDisk(file('fine'), undefined)).toEqual({
    format: 'qcow2',
    virtualBytes: 8 * 1024 * 1024,
  })
})

test('default: a raw disk with a boot sector', async () => {
  const disk = Buffer.alloc(1024 * 1024)
  disk.writeUInt16LE(0xaa55, 510)
  await writeFile(file('raw'), disk)
  expect(await inspectDisk(file('raw'), undefined)).toEqual({ format: 'raw', virtualBytes: disk.length })
})

test.each([
  ['a backing file', () => ['-b', 'secret', '-F', 'raw'], /refers to a backing file/],
  ['a data file', () => ['-o', `data_file=${file('data.raw')},data_file_raw=on`], /refers to a data file/],
])('error: a disk that shows another file, as %s', async (_kind, options, message) => {
  await create('hostile', ...options())
  await expect(inspectDisk(file('hostile'), undefined)).rejects.toThrow(message)
})

test('error: a backing file named in a hidden place, with its offset in the header removed', async () => {
  const head = await create('hidden', '-b', 'secret', '-F', 'raw')
  head.writeBigUInt64BE(0n, 8)
  expect(() => readDiskHeader(head)).toThrow(/refers to a backing file/)
})

test('error: a disk that claims to be endless', async () => {
  await runCommand('qemu-img', ['create', '-q', '-f', 'qcow2', file('endless'), '900T'])
  await expect(inspectDisk(file('endless'), undefined)).rejects.toThrow(/too large/)
})

const changed = (change: (head: Buffer) => void) => async () => {
  const head = await create('changed')
  change(head)
  return head
}

test.each<[string, () => Promise<Buffer> | Buffer, RegExp]>([
  ['an unknown feature', changed((head) => head.writeBigUInt64BE(1n << 20n, 72)), /damaged or not known/],
  ['the mark of damage', changed((head) => head.writeBigUInt64BE(2n, 72)), /damaged or not known/],
  ['encryption', changed((head) => head.writeUInt32BE(2, 32)), /encrypted/],
  ['another version', changed((head) => head.writeUInt32BE(4, 4)), /version 4/],
  ['extensions without end', changed((head) => head.fill(0x11, 104)), /no end/],
  ['nothing after the magic', () => Buffer.from('QFI\xfb\0\0\0\x03', 'latin1'), /cut short/],
  ['nothing', () => Buffer.alloc(0), /no disk/],
  ['a web page', () => Buffer.from('<html>'), /no disk/],
  ['a JSON description of another file', () => Buffer.from('json:{"driver":"file"}'), /no disk/],
  ['xz', () => Buffer.from('fd377a585a000004', 'hex'), /an xz archive/],
  ['VMDK', () => Buffer.from('KDMV'), /a VMDK disk/],
])('error: a header with %s', async (_kind, make, message) => {
  const head = await make()
  expect(() => readDiskHeader(head)).toThrow(message)
})

test('behavior: written anew, a disk has its content and no snapshots', async () => {
  await create('full')
  await runCommand('qemu-io', ['-f', 'qcow2', '-c', 'write -P 7 1M 64k', file('full')])
  await runCommand('qemu-img', ['snapshot', '-c', 'old', file('full')])
  await rewriteDisk(file('full'), file('anew'), { format: 'qcow2', mostBytes: 1e9, reader: undefined })
  const { stdout } = await runCommand('qemu-img', ['info', '--output=json', file('anew')])
  expect(JSON.parse(stdout)).not.toHaveProperty('snapshots')
  await runCommand('qemu-img', ['compare', '-f', 'qcow2', '-F', 'qcow2', file('full'), file('anew')])
})

test('error: a disk that would grow beyond what is free', async () => {
  await create('large')
  await runCommand('qemu-io', ['-f', 'qcow2', '-c', 'write -P 7 0 8M', file('large')])
  const options = { format: 'qcow2', mostBytes: 1024 * 1024, reader: undefined } as const
  await expect(rewriteDisk(file('large'), file('too-large'), options)).rejects.toThrow(/no room for it/)
})
