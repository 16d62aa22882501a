import { chown, copyFile, open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '@coinrack/host/run-command.ts'
import type { BuiltImage } from '../images/image-store.ts'
import { keepBaseDisk, makeDisk } from '../machine/disk.ts'
import { connectToGuest } from '../machine/guest-socket.ts'
import { type Machine, machineAt, runningPid } from '../machine/machine.ts'
import { launchMachine, type StartOptions } from '../machine/machine-process.ts'
import { type Monitor, withMonitor } from '../machine/monitor.ts'
import { ignoreShared } from '../machine/saving.ts'
import { type Template, writeDisk } from '../machine/template-store.ts'
import type { SandboxSize } from '../ports/sandbox-runtime.ts'
import { withAgent } from './agent-files.ts'
import { type AgentSession, openSession } from './agent-session.ts'
import { sandboxArguments, sandboxFiles } from './command-line.ts'
import { firstSession } from './template.ts'

/*
 * One machine of a sandbox: how it begins (as a clone, from a saved state, or by a boot), and how it becomes one of its
 * own.
 */

/** The surroundings that QEMU runs within. */
export type Around = Pick<
  StartOptions,
  'accelerator' | 'clockOptions' | 'network' | 'within' | 'limits' | 'user' | 'jail'
>

const WAKE_TIMEOUT_MS = 60_000
const POLL_MS = 1

/** The folder of a machine; sockets of sandboxes have names of their own. */
export function sandboxMachineAt(folder: string, id: string): Machine {
  const qemu = machineAt(folder, id)
  const file = (name: string) => join(qemu.folder, name)
  return { ...qemu, monitor: file(sandboxFiles.monitor), agent: file(sandboxFiles.agent) }
}

/** The process of a started machine, and the session with its agent. */
export interface Started {
  pid: number
  session: AgentSession
}

/** Begins as a clone of the template. It runs when this returns. */
export async function startAsClone(
  qemu: Machine,
  size: SandboxSize,
  template: Template,
  around: Around,
): Promise<Started> {
  await writeDisk(template, qemu.disk)
  await writeFile(qemu.state, template.state, { mode: 0o600 })
  const state = await open(qemu.state)
  await rm(qemu.state)
  let pid: number
  try {
    const memoryFile = { path: '/proc/self/fd/4', share: false }
    const args = argumentsOf(qemu, size, around, { memoryFile })
    const inherit = [template.memory.descriptor, state.fd]
    await giveDisk(qemu, around)
    pid = await launchMachine(qemu, args, { ...around, inherit, isIdle: true })
  } finally {
    await state.close()
  }
  return { pid, session: await wake(qemu, 'fd:5', 'template') }
}

/**
 * Begins, on the disk that is there, where the state of the file ends. The file is not needed afterwards.
 * @param memoryFile a file of the machine's folder that becomes its memory
 */
export async function startFromState(
  qemu: Machine,
  size: SandboxSize,
  file: string,
  around: Around,
  memoryFile?: string,
): Promise<Started> {
  const state = await open(file)
  let pid: number
  try {
    await giveDisk(qemu, around)
    const memory = memoryFile === undefined ? {} : { memoryFile: { path: memoryFile, share: true } }
    const args = argumentsOf(qemu, size, around, memory)
    pid = await launchMachine(qemu, args, { ...around, inherit: [state.fd], isIdle: true })
  } finally {
    await state.close()
  }
  return { pid, session: await wake(qemu, 'fd:4', 'own') }
}

/** Begins with a boot. It is slow, and needs nothing but the image. */
export async function startCold(
  qemu: Machine,
  size: SandboxSize,
  image: BuiltImage,
  baseImages: string,
  around: Around,
): Promise<Started> {
  const kernel = join(qemu.folder, 'vmlinuz')
  const initrd = join(qemu.folder, 'initrd')
  await makeDisk(qemu.disk, {
    base: await keepBaseDisk(image, baseImages),
    image: { diskGb: image.diskGb },
    diskGb: size.diskGb,
    owner: around.user,
  })
  await copyFile(image.kernel, kernel)
  await writeFile(initrd, await withAgent(await readFile(image.initrd)))
  if (around.user) for (const path of [kernel, initrd]) await chown(path, around.user.uid, around.user.gid)
  const boot = { kernel: 'vmlinuz', initrd: 'initrd', clockOptions: around.clockOptions }
  const pid = await launchMachine(qemu, argumentsOf(qemu, size, around, { boot }), around)
  let isGone = false
  const session = await firstSession(qemu.agent, () => {
    if (isGone) throw new Error(`The machine of ${qemu.id} ended while it booted`)
    void runningPid(qemu).then((running) => {
      isGone = running === undefined
    })
  })
  await session.call('warm', { languages: [], disk: '/dev/vda' }, { timeoutMs: WAKE_TIMEOUT_MS })
  return { pid, session }
}

const argumentsOf = (
  qemu: Machine,
  { vcpus, memoryMb }: SandboxSize,
  { accelerator, network }: Around,
  more: Partial<Parameters<typeof sandboxArguments>[0]> = {},
) => sandboxArguments({ id: qemu.id, vcpus, memoryMb, accelerator, network, ...more })

async function giveDisk({ disk }: Machine, { user }: Around): Promise<void> {
  if (user) await chown(disk, user.uid, user.gid)
}

/** Greets the agent, which hears us before anybody else, and loads the state into a QEMU that waits for it. */
async function wake(qemu: Machine, uri: string, memory: 'template' | 'own'): Promise<AgentSession> {
  const socket = connectToGuest(qemu.agent)
  const session = openSession(socket, { timeoutMs: WAKE_TIMEOUT_MS })
  session.catch(() => {})
  try {
    await withMonitor(
      qemu.monitor,
      async (monitor) => {
        if (memory === 'template') await ignoreShared(monitor, true)
        await monitor.execute('migrate-incoming', { uri })
        await untilLoaded(monitor)
        if (memory === 'template') await ignoreShared(monitor, false)
        else await monitor.execute('cont')
      },
      { timeoutMs: WAKE_TIMEOUT_MS },
    )
    return await session
  } catch (error) {
    socket.destroy()
    throw error
  }
}

async function untilLoaded({ execute }: Monitor): Promise<void> {
  for (let waited = 0; waited < WAKE_TIMEOUT_MS; waited += POLL_MS) {
    const { status } = await execute<{ status: string }>('query-status')
    if (status === 'running' || status === 'paused') return
    await sleep(POLL_MS)
  }
  throw new Error('A machine did not wake')
}

/** A file that has holes keeps them; nothing is copied where the file system can share it. */
export const copySparsely = async (from: string, to: string): Promise<void> => {
  await runCommand('cp', ['--reflink=auto', '--sparse=always', '--no-preserve=all', from, to])
}
