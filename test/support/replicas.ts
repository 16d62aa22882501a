import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@coinrack/host/free-port.ts'

const READY_MS = 60_000

/** One process of the service; see `replica.ts`. */
export interface Replica {
  origin: string
  /** The complaints that it has written. */
  complaints(): string
  /** Resolves once it has ended, however that came. */
  gone(): Promise<void>
  pid(): number
  /** SIGKILL: nothing gets to say goodbye. */
  kill(): Promise<void>
  /** SIGTERM. @returns once it has ended */
  end(): Promise<void>
  /** With the same port and folder, after its end. */
  startAgain(): Promise<void>
}

/** Replicas of one service: they share database and settings, and have ports of their own. */
export interface Replicas {
  /** Another one on the data folder that has the machines, or `elsewhere`: on one of its own without machines. */
  start(where?: 'elsewhere', settings?: Record<string, string>): Promise<Replica>
  /** Those that start from here on are another program than `replica.ts`, or than before. */
  useVersion(program: string): void
  /** Ends those that run, in order, and removes the folder. */
  stop(): Promise<void>
}

export async function openReplicas(
  databaseUrl: string,
  settings: Record<string, string> = {},
  program = join(import.meta.dirname, 'replica.ts'),
): Promise<Replicas> {
  const folder = await mkdtemp('/tmp/coinrack-replicas-')
  const shared = {
    PATH: process.env.PATH!,
    DATABASE_URL: databaseUrl,
    COINRACK_SERVER_SECRET: randomBytes(32).toString('hex'),
    COINRACK_DEPOSIT_SECRET: randomBytes(32).toString('hex'),
    COINRACK_METRICS_PORT: '0',
    COINRACK_PUBLIC_URL: 'http://127.0.0.1:8080',
    ...settings,
  }
  const running = new Set<ChildProcess>()
  let version = program

  async function run(port: number, own: Record<string, string>): Promise<ChildProcess & { said(): string }> {
    const child = spawn(process.execPath, [version], {
      env: { ...shared, COINRACK_DATA: join(folder, 'machines'), ...own, COINRACK_PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.add(child)
    child.once('exit', () => running.delete(child))
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text) => {
        output = (output + text).slice(0, 20_000)
      })
    await untilReady(child, `http://127.0.0.1:${port}`, () => output)
    return Object.assign(child, { said: () => output })
  }
  const end = async (child: ChildProcess, signal: NodeJS.Signals) => {
    if (!running.has(child)) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  return {
    async start(where, settings = {}) {
      const folders: Record<string, string> = where
        ? { COINRACK_DATA: await mkdtemp(join(folder, 'elsewhere-')), COINRACK_LOCAL_MACHINES: 'false' }
        : {}
      const own = { ...folders, ...settings }
      const port = await freePort()
      let child = await run(port, own)
      return {
        origin: `http://127.0.0.1:${port}`,
        complaints: () => child.said(),
        pid: () => child.pid!,
        async gone() {
          if (running.has(child)) await once(child, 'exit')
        },
        kill: () => end(child, 'SIGKILL'),
        end: () => end(child, 'SIGTERM'),
        async startAgain() {
          child = await run(port, own)
        },
      }
    },
    useVersion(other) {
      version = other
    },
    async stop() {
      for (const child of running) await end(child, 'SIGTERM')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function untilReady(child: ChildProcess, origin: string, output: () => string): Promise<void> {
  const end = performance.now() + READY_MS
  for (;;) {
    if (child.exitCode !== null) throw new Error(`The replica ended with ${child.exitCode}:\n${output()}`)
    const isReady = await fetch(`${origin}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return
    if (performance.now() > end) throw new Error(`The replica is not ready:\n${output()}`)
    await sleep(50)
  }
}
