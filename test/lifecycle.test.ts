import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { adoptDetached } from '@coinrack/host/detached-process.ts'
import { freePort } from '@coinrack/host/free-port.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'

/*
 * `npm start` and `npm run stop` as a newcomer and a power cut see them: in a clone under a private home, on a data
 * folder of its own, and with the images of the usual cache.
 */

const root = join(import.meta.dirname, '..')
/** Building the images takes minutes where no start has done it yet. */
const FIRST_START_MS = 30 * 60_000
/** From `npm start` to the first answer, once everything is in place: on a quiet machine, and as starts of npm alone. */
const NEXT_START_MS = 5_000
const NEXT_START_OF_NPM = 12
/** How long it may take on a machine that is busy with other things, before the test gives up. */
const PATIENCE_MS = 60_000

vi.setConfig({ testTimeout: 5 * PATIENCE_MS })

let parent: string
let clone: string
let dataFolder: string
let origin: string
let env: Record<string, string>
let token: string
const started: Start[] = []
/** Milliseconds that each start took to answer, the first one aside. */
const startTimes: number[] = []

interface Start {
  npm: ChildProcess
  output: () => string
}

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'life-'))
  // The service user passes through here to the data folder; the home beside it is closed to everyone.
  await chmod(parent, 0o711)
  const home = join(parent, 'home')
  await mkdir(home, { mode: 0o700 })
  clone = join(home, 'coinrack')
  dataFolder = join(parent, 'data')
  await cp(root, clone, { recursive: true, filter: (path) => !/\/(node_modules|\.git)$/.test(path) })
  await copyPackages()

  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  const { PATH = '', ...others } = process.env
  env = {
    // As in a shell: the pinned Node is npm's to find.
    PATH: PATH.split(delimiter)
      .filter((folder) => !folder.includes('node_modules'))
      .join(delimiter),
    HOME: home,
    COINRACK_DATA: dataFolder,
    COINRACK_CACHE: others.COINRACK_CACHE ?? usualCache(others),
    COINRACK_PORT: String(port),
    COINRACK_METRICS_PORT: '0',
  }
}, 120_000)

afterEach(async () => {
  for (const { npm } of started.splice(0)) {
    if (npm.exitCode === null && npm.signalCode === null) process.kill(-npm.pid!, 'SIGKILL')
  }
})

afterAll(async () => {
  await stop()
  await rm(parent, { recursive: true, force: true })
}, 120_000)

function usualCache({ XDG_CACHE_HOME, HOME = '' }: NodeJS.ProcessEnv): string {
  if (process.getuid?.() === 0) return '/var/cache/coinrack'
  return join(XDG_CACHE_HOME ?? join(HOME, '.cache'), 'coinrack')
}

/** Hard links where the file system allows: real files under the private home, at no cost. */
async function copyPackages(): Promise<void> {
  const packages = [join(root, 'node_modules'), clone]
  await runCommand('cp', ['--archive', '--link', ...packages]).catch(async () => {
    await rm(join(clone, 'node_modules'), { recursive: true, force: true })
    await runCommand('cp', ['--archive', ...packages])
  })
}

/** `npm start` in a process group of its own, as a terminal would run it. */
function start(extra: Record<string, string> = {}): Start {
  const npm = spawn('npm', ['start'], {
    cwd: clone,
    env: { ...env, ...extra },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (text) => (output += text))
  const begun = { npm, output: () => output }
  started.push(begun)
  return begun
}

/** Resolves with the milliseconds until the path answered 200. */
async function answers({ npm, output }: Start, path: string, limitMs: number): Promise<number> {
  const begun = performance.now()
  while (performance.now() - begun < limitMs) {
    if (npm.exitCode !== null) throw new Error(`npm start ended with ${npm.exitCode}:\n${output()}`)
    const status = await fetch(origin + path).then(
      (answer) => answer.status,
      () => 0,
    )
    if (status === 200) return performance.now() - begun
    await sleep(20)
  }
  throw new Error(`${path} did not answer in ${limitMs} ms:\n${output()}`)
}

async function healthy(begun: Start): Promise<void> {
  startTimes.push(await answers(begun, '/healthz', PATIENCE_MS))
}

async function exitCode({ npm }: Start): Promise<number | null> {
  if (npm.exitCode === null && npm.signalCode === null) await once(npm, 'exit')
  return npm.exitCode
}

const stop = () => runCommand('npm', ['run', 'stop'], { cwd: clone, env })

async function ask(path: string, body?: object) {
  const answer = await fetch(`${origin}/api/v1/eqvps${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    },
    body: body && JSON.stringify(body),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

const pidOf = (name: string) => adoptDetached(join(dataFolder, 'run', `${name}.pid`))

/** Command lines of processes that have to do with the data folder. */
async function programs(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return lines.filter((line) => line.includes(dataFolder) || line.includes(clone))
}

test('default: takes requests, and is ready once every part is', { timeout: FIRST_START_MS }, async () => {
  const begun = start()
  await answers(begun, '/healthz', FIRST_START_MS)
  await answers(begun, '/readyz', FIRST_START_MS)
  const registered = await ask('/auth/register', { email: 'ada@coinrack-lifecycle.net' })
  expect(registered.status).toBe(200)
  token = String(registered.body.token)

  const second = start()
  expect(await exitCode(second)).toBe(1)
  expect(second.output()).toContain(
    `(process ${await pidOf(`services/${env.COINRACK_PORT}`)}) runs on the data folder ${dataFolder}`,
  )

  process.kill(-begun.npm.pid!, 'SIGINT')
  expect(await exitCode(begun)).toBe(0)
  expect(begun.output()).not.toMatch(/npm err/i)
})

test('default: the lines of the guide for operators reach the embedded database', async () => {
  const guide = await readFile(join(root, 'docs/operator/data.md'), 'utf8')
  const lines = /^data=[\s\S]*?(?=^```$)/m.exec(guide)![0].replace('/var/lib/coinrack', dataFolder)
  const { stdout } = await runCommand('bash', ['-euc', lines])
  expect(stdout).toMatch(/count[\s\S]*\b1\b[\s\S]*\(1 row\)/)
})

test('behavior: Ctrl-C leaves database and chains running, and the next start adopts them', async () => {
  const kept = await Promise.all(['postgres/postgres', 'chain/1', 'chain/8453', 'chain/137'].map(pidOf))
  expect(kept).not.toContain(undefined)
  expect(await pidOf(`services/${env.COINRACK_PORT}`)).toBeUndefined()

  const begun = start()
  await healthy(begun)
  expect(await pidOf('postgres/postgres')).toBe(kept[0])
  expect(await ask('/account')).toMatchObject({
    status: 200,
    body: { email: 'ada@coinrack-lifecycle.net' },
  })
})

test('behavior: SIGKILL of the service, or of npm alone, blocks nothing', async () => {
  const killed = start()
  await healthy(killed)
  process.kill(-killed.npm.pid!, 'SIGKILL')
  await exitCode(killed)

  const orphaned = start()
  await healthy(orphaned)
  orphaned.npm.kill('SIGKILL')
  await exitCode(orphaned)

  const begun = start()
  await healthy(begun)
  expect((await ask('/account')).status).toBe(200)
})

test('behavior: SIGKILL of everything at once loses nothing', async () => {
  const killed = start()
  await healthy(killed)
  const pids = await Promise.all(['postgres/postgres', 'chain/1', 'chain/8453', 'chain/137'].map(pidOf))
  for (const pid of [-killed.npm.pid!, ...pids]) process.kill(pid!, 'SIGKILL')
  await exitCode(killed)

  const begun = start()
  await healthy(begun)
  expect((await ask('/account')).status).toBe(200)
})

test('behavior: SIGTERM to npm ends it with exit code 0', async () => {
  const begun = start()
  await healthy(begun)
  begun.npm.kill('SIGTERM')
  expect(await exitCode(begun)).toBe(0)
})

test('behavior: stop ends everything of the data folder, twice is fine, and state stays', async () => {
  const begun = start()
  await healthy(begun)
  await stop()
  expect(await exitCode(begun)).toBe(0)
  expect(await programs()).toEqual([])
  await stop()

  const again = start()
  await healthy(again)
  expect((await ask('/account')).status).toBe(200)
})

test('behavior: a start with everything in place answers in under 5 s, or that of twelve starts of npm on a busy machine', async () => {
  const npmTimes: number[] = []
  for (let times = 0; times < 3; times++) {
    const begin = performance.now()
    await runCommand('npm', ['--version'], { cwd: clone, env })
    npmTimes.push(performance.now() - begin)
  }
  const most = Math.max(NEXT_START_MS, NEXT_START_OF_NPM * Math.min(...npmTimes))
  expect(Math.min(...startTimes)).toBeLessThan(most)
})

test('error: a configuration that does not hold is told in full', async () => {
  const begun = start({ COINRACK_HOST: '0.0.0.0', COINRACK_RATE_ORDERS: 'often' })
  expect(await exitCode(begun)).toBe(1)
  expect(begun.output()).toContain('COINRACK_HOST: the demo profile publishes a faucet key')
  expect(begun.output()).toContain('COINRACK_RATE_ORDERS: "often" is not valid')
})
