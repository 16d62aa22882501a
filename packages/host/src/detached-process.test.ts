import { spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AlreadyRunsError, adoptDetached, startDetached, stopDetached } from './detached-process.ts'
import { serviceUser } from './service-user.ts'

let folder: string
let pidFile: string
let logFile: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'detached-'))
  pidFile = join(folder, 'run', 'sleeper.pid')
  logFile = join(folder, 'sleeper.log')
})

afterEach(async () => {
  await stopDetached(pidFile, { timeoutMs: 0 })
  await rm(folder, { recursive: true })
})

const sleeper = (script = 'exec sleep 60') => ({
  name: 'sleeper',
  command: 'bash',
  args: ['-c', script],
  pidFile,
  logFile,
})

const commandLine = (pid: number) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')

async function waitUntil(condition: () => Promise<boolean>) {
  while (!(await condition())) await sleep(5)
}

test('default: starts, is found again, and ends', async () => {
  const pid = await startDetached({ ...sleeper(), command: 'sleep', args: ['60'] })
  expect(await commandLine(pid)).toBe('sleep\x0060\0')
  expect(await readFile(pidFile, 'utf8')).toBe(`${pid}\n`)
  await expect(adoptDetached(pidFile)).resolves.toBe(pid)

  await stopDetached(pidFile)
  await expect(adoptDetached(pidFile)).resolves.toBeUndefined()
  expect(await commandLine(pid)).toBe('')
})

test('behavior: to see that it still runs no program is started', async () => {
  const pid = await startDetached({ ...sleeper(), command: 'sleep', args: ['60'] })
  const started: unknown[] = []
  const count = (message: unknown) => started.push(message)
  subscribe('child_process', count)
  try {
    for (let asked = 0; asked < 5; asked++) expect(await adoptDetached(pidFile)).toBe(pid)
    expect(started).toHaveLength(0)
    process.kill(pid, 'SIGKILL')
    await waitUntil(async () => (await adoptDetached(pidFile)) === undefined)
    // Its lock went before its number did, so by now the list does not say.
    expect(await adoptDetached(pidFile)).toBeUndefined()
    expect(started.length).toBeGreaterThan(0)
  } finally {
    unsubscribe('child_process', count)
  }
})

test('behavior: open files go with it, as descriptors from 4 on', async () => {
  const files = await Promise.all(
    ['a', 'b'].map(async (text) => {
      await writeFile(join(folder, text), text)
      return open(join(folder, text))
    }),
  )
  try {
    const inherit = files.map(({ fd }) => fd)
    await startDetached({ ...sleeper('cat <&4; cat <&5; exec sleep 60'), inherit, within: ['env'] })
    await waitUntil(async () => (await readFile(logFile, 'utf8')) === 'ab')
  } finally {
    await Promise.all(files.map((file) => file.close()))
  }
})

test('behavior: a pid file that is not there means that nothing runs', async () => {
  await expect(adoptDetached(pidFile)).resolves.toBeUndefined()
  await stopDetached(pidFile)
})

test('behavior: what it writes is appended to its log', async () => {
  await startDetached(sleeper('echo first; exec sleep 60'))
  await waitUntil(async () => (await readFile(logFile, 'utf8')) === 'first\n')
  await stopDetached(pidFile)
  await startDetached(sleeper('echo second >&2; exec sleep 60'))
  await waitUntil(async () => (await readFile(logFile, 'utf8')) === 'first\nsecond\n')
})

test('behavior: can be started again after it was killed, and its pid file was left behind', async () => {
  const first = await startDetached(sleeper())
  process.kill(first, 'SIGKILL')
  await waitUntil(async () => (await adoptDetached(pidFile)) === undefined)
  const second = await startDetached(sleeper())
  expect(second).not.toBe(first)
})

test('behavior: outlives its starter, killed, and is adopted', async () => {
  const module = join(import.meta.dirname, 'detached-process.ts')
  const starter = spawn(process.execPath, [
    '--input-type=module',
    '--eval',
    `const { startDetached } = await import(${JSON.stringify(module)})
     console.log(await startDetached(${JSON.stringify(sleeper())}))
     setInterval(() => {}, 1000)`,
  ])
  const [output] = await once(starter.stdout, 'data')
  starter.kill('SIGKILL')
  await once(starter, 'exit')
  await expect(adoptDetached(pidFile)).resolves.toBe(Number(output))
})

test('behavior: of many starts at the same moment, one runs', async () => {
  const results = await Promise.allSettled(Array.from({ length: 4 }, () => startDetached(sleeper())))
  const started = results.filter((result) => result.status === 'fulfilled')
  const refused = results.filter((result) => result.status === 'rejected')
  expect(started).toHaveLength(1)
  expect(refused.map((result) => result.reason)).toEqual(Array(3).fill(expect.any(AlreadyRunsError)))
  await expect(adoptDetached(pidFile)).resolves.toBe(started[0]?.value)
})

test('behavior: a program that ignores the signal is killed', async () => {
  const pid = await startDetached(sleeper('trap "" TERM; echo ready; while :; do sleep 0.1; done'))
  await waitUntil(async () => (await readFile(logFile, 'utf8')) === 'ready\n')
  await stopDetached(pidFile, { timeoutMs: 100 })
  expect(await commandLine(pid)).toBe('')
})

test('behavior: children left behind by a killed program are ended too', async () => {
  const pid = await startDetached(sleeper('sleep 60 & echo $!; wait'))
  await waitUntil(async () => /\d+\n/.test(await readFile(logFile, 'utf8')))
  const child = Number(await readFile(logFile, 'utf8'))
  process.kill(pid, 'SIGKILL')
  await waitUntil(async () => (await commandLine(pid)) === '')
  await expect(adoptDetached(pidFile)).resolves.toBeUndefined()
  await stopDetached(pidFile, { timeoutMs: 0 })
  expect(await commandLine(child)).toBe('')
})

test('behavior: gets no secret of its starter', async () => {
  process.env.SOME_SECRET = 'hidden'
  await startDetached({ ...sleeper('env; echo end; exec sleep 60'), env: { GIVEN: 'yes' } })
  delete process.env.SOME_SECRET
  await waitUntil(async () => (await readFile(logFile, 'utf8')).includes('end\n'))
  const log = await readFile(logFile, 'utf8')
  expect(log).toContain('GIVEN=yes')
  expect(log).not.toContain('hidden')
})

test.runIf(process.getuid?.() === 0)('behavior: as root, drops to the given user', async () => {
  const user = (await serviceUser('nobody'))!
  const pid = await startDetached({ ...sleeper(), command: 'sleep', args: ['60'], user })
  expect(await readFile(`/proc/${pid}/status`, 'utf8')).toMatch(
    new RegExp(`^Uid:\\s+${user.uid}\\s+${user.uid}\\s+${user.uid}\\s+${user.uid}$`, 'm'),
  )
  expect(await commandLine(pid)).toBe('sleep\x0060\0')
  await expect(adoptDetached(pidFile)).resolves.toBe(pid)
})

test('error: already runs', async () => {
  const pid = await startDetached(sleeper())
  await expect(startDetached(sleeper())).rejects.toThrow(`sleeper runs already (process ${pid})`)
})

test('error: a program that does not exist', async () => {
  const program = { ...sleeper(), command: '/no/such/program', args: [] }
  await expect(startDetached(program)).rejects.toThrow(
    /sleeper did not start.*exit code 127.*\/no\/such\/program/s,
  )
  await expect(adoptDetached(pidFile)).resolves.toBeUndefined()
})
