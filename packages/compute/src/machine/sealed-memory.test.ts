import { closeSync, fstatSync, readSync } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sealMemory } from './sealed-memory.ts'

const MIB = 1024 ** 2
let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-memory-'))
  path = join(folder, 'memory')
  const file = await open(path, 'w')
  await file.truncate(64 * MIB)
  await file.write(Buffer.from('first'), 0, 5, 8_192)
  await file.write(Buffer.from('last'), 0, 4, 64 * MIB - 4)
  await file.close()
})

afterEach(() => rm(folder, { recursive: true }))

function contentAt(descriptor: number, at: number, length: number): string {
  const content = Buffer.alloc(length)
  readSync(descriptor, content, 0, length, at)
  return content.toString('latin1')
}

test('default: the same content at the same places, taking memory only where there is any', async () => {
  const { descriptor, sha256 } = await sealMemory(path, 64 * MIB)
  expect(contentAt(descriptor, 8_192, 5)).toBe('first')
  expect(contentAt(descriptor, 64 * MIB - 4, 4)).toBe('last')
  const { size, blocks } = fstatSync(descriptor)
  expect(size).toBe(64 * MIB)
  expect(blocks * 512).toBeLessThan(MIB)
  expect(sha256).toMatch(/^[0-9a-f]{64}$/)
  closeSync(descriptor)
})

test('behavior: nobody can write to it, nor make it shorter', async () => {
  const { descriptor } = await sealMemory(path, 64 * MIB)
  const other = await open(`/proc/self/fd/${descriptor}`, 'r+')
  await expect(other.write('x', 8_192)).rejects.toMatchObject({ code: 'EPERM' })
  await expect(other.truncate(0)).rejects.toMatchObject({ code: 'EPERM' })
  expect(contentAt(descriptor, 8_192, 5)).toBe('first')
  await other.close()
  closeSync(descriptor)
})

test('behavior: the sum is of content and place, whatever the file takes on the disk', async () => {
  const sumNow = async () => {
    const { descriptor, sha256 } = await sealMemory(path, 64 * MIB)
    closeSync(descriptor)
    return sha256
  }
  const change = async (content: Buffer, at: number) => {
    const file = await open(path, 'r+')
    await file.write(content, 0, content.length, at)
    await file.close()
  }
  const before = await sumNow()
  await change(Buffer.alloc(MIB), 16 * MIB)
  expect(await sumNow()).toBe(before)
  await change(Buffer.from('F'), 8_192)
  const changed = await sumNow()
  expect(changed).not.toBe(before)
  await change(Buffer.alloc(5), 8_192)
  await change(Buffer.from('Firstly').subarray(0, 5), 12_288)
  expect(await sumNow()).not.toBe(changed)
})

test('error: a file that is cut short, and none', async () => {
  const file = await open(path, 'r+')
  await file.truncate(MIB)
  await file.close()
  await expect(sealMemory(path, 64 * MIB)).rejects.toThrow('not 67108864 bytes')
  await expect(sealMemory(join(folder, 'none'), MIB)).rejects.toThrow('No such file')
})
