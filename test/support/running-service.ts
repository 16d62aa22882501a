import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { shareTemplates, takeTemplates } from '@coinrack/compute/testing-template-shelf.ts'
import { freePort } from '@coinrack/host/free-port.ts'
import { runCommand } from '@coinrack/host/run-command.ts'

const server = join(import.meta.dirname, '../../packages/server/src')
/** A first start on a machine builds the images of the operating systems. */
const READY_MS = 30 * 60_000
const END_MS = 60_000

/** The service as its own process on a data folder of its own, with everything real beneath it. */
export interface RunningService {
  origin: string
  dataFolder: string
  /** The current process id of the service. */
  pid(): number
  /** The end of what the current process has said. */
  output(): string
  start(): Promise<void>
  /** Another process of the service on the same data, with a port of its own. */
  startReplica(): Promise<{ origin: string; output(): string }>
  /** SIGKILL: nothing gets to say goodbye. */
  kill(): Promise<void>
  /** Ends it as its operator does: what runs beneath it goes on. */
  end(): Promise<void>
  /** `npm run stop`: ends the service and all that it left running. */
  operatorStop(): Promise<void>
  /** Runs an operator's command. */
  operator(...args: string[]): Promise<string>
  /** Ends the service and all that it left running, and removes the folder. */
  stop(): Promise<void>
}

/**
 * Starts a service and waits until every part of it is ready: with `COINRACK_INSTANT_VPS=on` also for its first template,
 * with `COINRACK_SANDBOXES=true` for that of the smallest sandbox.
 */
export async function startService(
  settings: Record<string, string> = {},
  { port = undefined as number | undefined } = {},
): Promise<RunningService> {
  // Short, for sockets, and open to the service user.
  const dataFolder = await mkdtemp('/tmp/coinrack-e2e-')
  await chmod(dataFolder, 0o711)
  port ??= await freePort()
  const origin = `http://127.0.0.1:${port}`
  const env: Record<string, string> = {
    ...(process.env as Record<string, string>),
    COINRACK_DATA: dataFolder,
    COINRACK_PORT: String(port),
    COINRACK_METRICS_PORT: '0',
    COINRACK_LOG_LEVEL: 'warn',
    // The boot of a template takes a minute, which only tests of clones wait for.
    COINRACK_INSTANT_VPS: process.env.COINRACK_INSTANT_VPS ?? 'off',
    COINRACK_SANDBOXES: 'false',
    ...settings,
  }
  const run = async (script: string, ...args: string[]) =>
    (await runCommand(process.execPath, [join(server, script), ...args], { env, timeoutMs: 3 * END_MS }))
      .stdout

  let child: ChildProcess
  let output = () => ''
  const service: RunningService = {
    origin,
    dataFolder,
    pid: () => child.pid!,
    output: () => output(),
    async start() {
      const started = startProcess(env)
      child = started.child
      output = started.output
      await untilReady(origin, started)
    },
    async startReplica() {
      const replicaPort = await freePort()
      const replica = startProcess({ ...env, COINRACK_PORT: String(replicaPort) })
      const at = `http://127.0.0.1:${replicaPort}`
      await untilReady(at, replica)
      return { origin: at, output: replica.output }
    },
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
    async end() {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
    operatorStop: async () => void (await run('process/stop.ts')),
    operator: (...args) => run('operator/cli.ts', ...args),
    async stop() {
      await service.operatorStop()
      await rm(dataFolder, { recursive: true, force: true })
    },
  }
  const hasTemplates = env.COINRACK_INSTANT_VPS === 'on' || env.COINRACK_SANDBOXES === 'true'
  if (hasTemplates) await takeTemplates(dataFolder)
  await service.start()
  if (env.COINRACK_INSTANT_VPS === 'on') await untilTemplate(join(dataFolder, 'templates'))
  if (env.COINRACK_SANDBOXES === 'true') await untilTemplate(join(dataFolder, 'sandbox-templates'))
  if (hasTemplates) await shareTemplates(dataFolder)
  return service
}

interface Started {
  child: ChildProcess
  /** The end of what it has said. */
  output(): string
}

function startProcess(env: Record<string, string>): Started {
  const child = spawn(process.execPath, [join(server, 'process/main.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output = (output + text).slice(-20_000)
    })
  }
  return { child, output: () => output }
}

async function untilReady(origin: string, { child, output }: Started): Promise<void> {
  const end = performance.now() + READY_MS
  for (;;) {
    if (child.exitCode !== null) throw new Error(`The service ended with ${child.exitCode}:\n${output()}`)
    const ready = await fetch(`${origin}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (ready) return
    if (performance.now() > end) throw new Error(`The service is not ready:\n${output()}`)
    await sleep(100)
  }
}

async function untilTemplate(folder: string): Promise<void> {
  for (;;) {
    const names = await readdir(folder).catch((): string[] => [])
    if (names.some((name) => !name.includes('.') && existsSync(join(folder, name, 'template.json')))) return
    await sleep(200)
  }
}
