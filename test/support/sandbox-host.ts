import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { takeTemplates } from '@coinrack/compute/testing-template-shelf.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { machinesOf } from './sandbox-traces.ts'

const program = join(import.meta.dirname, '../../packages/sandbox-host/src/main.ts')
const stopper = join(import.meta.dirname, '../../packages/server/src/process/stop.ts')
const END_MS = 60_000

/** A network between this computer and another one, which is a network namespace of its own. */
export interface Cable {
  /** The address of this computer on it. */
  here: string
  namespace: string
  /** Whether anything gets through. */
  plug(isIn: boolean): Promise<void>
  remove(): Promise<void>
}

export async function layCable(): Promise<Cable> {
  const name = `crh${process.pid % 100_000}`
  const [here, there] = ['198.18.250.1', '198.18.250.2']
  const ip = (...words: string[]) => runCommand('ip', words)
  await ip('netns', 'add', name)
  await ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'uplink', 'netns', name)
  await ip('address', 'add', `${here}/30`, 'dev', name)
  await ip('link', 'set', name, 'up')
  for (const words of [
    ['address', 'add', `${there}/30`, 'dev', 'uplink'],
    ['link', 'set', 'uplink', 'up'],
    ['link', 'set', 'lo', 'up'],
    ['route', 'add', 'default', 'via', here],
  ])
    await ip('-n', name, ...words)
  return {
    here,
    namespace: name,
    plug: async (isIn) => void (await ip('link', 'set', name, isIn ? 'up' : 'down')),
    remove: async () => void (await ip('netns', 'del', name)),
  }
}

/** Another computer with the program of a sandbox host, on a data folder and a cache of its own. */
export interface RunningHost {
  dataFolder: string
  cacheFolder: string
  pid(): number
  output(): string
  /** Joins by a token, and runs. */
  join(token: string): Promise<void>
  start(): Promise<void>
  /** SIGKILL; sandboxes go on. */
  kill(): Promise<void>
  /** As its power going off: nothing runs on. */
  cutPower(): Promise<void>
  /** `npm run stop` there: ends the program and all that it left running. */
  stop(): Promise<void>
  /** Ends all of it, and removes the folders. */
  remove(): Promise<void>
}

export async function newSandboxHost({ namespace }: Cable): Promise<RunningHost> {
  const dataFolder = await mkdtemp('/tmp/coinrack-host-')
  const cacheFolder = await mkdtemp('/tmp/coinrack-host-cache-')
  for (const folder of [dataFolder, cacheFolder]) await chmod(folder, 0o711)
  await takeTemplates(dataFolder)
  const env = {
    ...(process.env as Record<string, string>),
    COINRACK_DATA: dataFolder,
    COINRACK_CACHE: cacheFolder,
    COINRACK_GUEST_CONTROL_GROUP: `/coinrack-test-host-${process.pid}`,
    COINRACK_SANDBOX_POOL: '0',
  }
  let child: ChildProcess
  let output = ''
  const run = (...words: string[]) => {
    // The network is another; folders and control groups are where they were.
    child = spawn('nsenter', [`--net=/run/netns/${namespace}`, process.execPath, program, ...words], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (text) => {
        output = (output + text).slice(-40_000)
      })
  }
  const says = async (text: string) => {
    for (let waited = 0; !output.includes(text); waited += 100) {
      if (child.exitCode !== null) throw new Error(`The host ended with ${child.exitCode}:\n${output}`)
      if (waited > END_MS) throw new Error(`The host does not say "${text}":\n${output}`)
      await sleep(100)
    }
  }
  const begin = async (...words: string[]) => {
    output = ''
    run(...words)
    await says('Connected to the service')
  }
  const host: RunningHost = {
    dataFolder,
    cacheFolder,
    pid: () => child.pid!,
    output: () => output,
    join: (token) => begin('join', token),
    start: () => begin(),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
    async cutPower() {
      await host.kill()
      for (const { pid } of await machinesOf(dataFolder)) process.kill(pid, 'SIGKILL')
    },
    async stop() {
      await runCommand('nsenter', [`--net=/run/netns/${namespace}`, process.execPath, stopper], {
        env,
        timeoutMs: END_MS,
      })
    },
    async remove() {
      await host.stop()
      for (const folder of [dataFolder, cacheFolder]) await rm(folder, { recursive: true, force: true })
    },
  }
  return host
}

/** The far ends of the TCP connections of a process, as the kernel has them. */
export async function connectionsOf(pid: number): Promise<string[]> {
  const sockets = new Set<string>()
  for (const descriptor of await readdir(`/proc/${pid}/fd`)) {
    const { stdout } = await runCommand('readlink', [`/proc/${pid}/fd/${descriptor}`]).catch(() => ({
      stdout: '',
    }))
    const inode = /^socket:\[(\d+)\]/.exec(stdout)?.[1]
    if (inode) sockets.add(inode)
  }
  const lines = (await readFile(`/proc/${pid}/net/tcp`, 'utf8')).trim().split('\n').slice(1)
  const ESTABLISHED = '01'
  return lines.flatMap((line) => {
    const [, , far, state, , , , , , inode] = line.trim().split(/\s+/)
    if (state !== ESTABLISHED || !sockets.has(inode!)) return []
    const [address, port] = far!.split(':') as [string, string]
    const bytes = address.match(/../g)!.reverse()
    return [`${bytes.map((byte) => Number.parseInt(byte, 16)).join('.')}:${Number.parseInt(port, 16)}`]
  })
}
