import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isShownLocked } from './held-lock.ts'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-lock-'))
  path = join(folder, 'file')
  await writeFile(path, '')
})
afterEach(() => rm(folder, { recursive: true }))

async function hold(kind: '--exclusive' | '--shared') {
  const holder = spawn('flock', [kind, path, 'sh', '-c', 'echo held; exec cat'])
  await once(holder.stdout, 'data')
  return async () => {
    holder.stdin.end()
    await once(holder, 'exit')
  }
}

test('default: locked by another process, and free again', async () => {
  expect(await isShownLocked(path)).toBe(false)
  const release = await hold('--exclusive')
  expect(await isShownLocked(path)).toBe(true)
  expect(await isShownLocked(folder)).toBe(false)
  await release()
  expect(await isShownLocked(path)).toBe(false)
})

test('behavior: one that is shared is not shown, and a file that is not there is not locked', async () => {
  const release = await hold('--shared')
  expect(await isShownLocked(path)).toBe(false)
  await release()
  expect(await isShownLocked(join(folder, 'none'))).toBe(false)
})
