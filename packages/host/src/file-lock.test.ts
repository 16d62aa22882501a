import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { adoptDetached, stopDetached } from './detached-process.ts'
import { lockFile } from './file-lock.ts'

let folder: string
let pidFile: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lock-'))
  pidFile = join(folder, 'run', 'service.pid')
})

afterEach(() => rm(folder, { recursive: true }))

/** Another process that holds the lock until it is ended. */
async function holder() {
  const script = `const { lockFile } = await import(${JSON.stringify(join(import.meta.dirname, 'file-lock.ts'))})
    const { lock } = await lockFile(${JSON.stringify(pidFile)})
    console.log(lock ? 'locked' : 'refused')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script])
  const [said] = await once(child.stdout, 'data')
  expect(String(said).trim()).toBe('locked')
  return child
}

test('default: one holder at a time', async () => {
  const first = await lockFile(pidFile)
  expect(await lockFile(pidFile)).toEqual({ lock: undefined, heldBy: process.pid })
  await first.lock?.release()
  const second = await lockFile(pidFile)
  expect(second.lock).toBeDefined()
  await second.lock?.release()
})

test('behavior: names the process that holds it', async () => {
  const other = await holder()
  expect(await lockFile(pidFile)).toEqual({ lock: undefined, heldBy: other.pid })
  await expect(adoptDetached(pidFile)).resolves.toBe(other.pid)
  await stopDetached(pidFile)
})

test('behavior: is free after its holder was killed', async () => {
  const other = await holder()
  other.kill('SIGKILL')
  await once(other, 'exit')
  const { lock } = await lockFile(pidFile)
  expect(lock).toBeDefined()
  await lock?.release()
})

test('behavior: programs that the holder started do not keep it', async () => {
  const { lock } = await lockFile(pidFile)
  const child = spawn('sleep', ['60'])
  await lock?.release()
  await expect(adoptDetached(pidFile)).resolves.toBeUndefined()
  child.kill()
})
