import { chown, copyFile, open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '@coinrack/host/run-command.ts'
import type { BuiltImage } from '../images/image-store.ts'
import { keepBaseDisk, makeDisk } from '../machine/disk.ts'
import { connectToGuest } from '../machine/guest-socket.ts'
import { type Guest, guestAt, launchGuest, runningPid, type StartOptions } from '../machine/machine.ts'
import { type Monitor, withMonitor } from '../machine/monitor.ts'
import { ignoreShared } from '../machine/saving.ts'
import type { Template } from '../machine/template-store.ts'
import type { SandboxSize } from '../ports/sandbox-runtime.ts'
import { withAgent } from './agent-files.ts'
import { type GuestLink, openLink } from './agent-session.ts'
import { sandboxArguments, sandboxFiles } from './command-line.ts'
import { firstLink } from './template.ts'

/*
 * One machine of a sandbox: how it begins (as a clone, from a saved state, or by a boot), and how it becomes one of its
 * own.
 */

/** What QEMU runs within. */
export type Around = Pick<
  StartOptions,
  'accelerator' | 'clockOptions' | 'network' | 'within' | 'limits' | 'user' | 'jail'
>

const WAKE_TIMEOUT_MS = 60_000
const POLL_MS = 1

/** The folder of a machine; sockets of sandboxes have names of their own. */
export function machineAt(folder: string, id: string): Guest {
  const guest = guestAt(folder, id)
  const file = (name: string) => join(guest.folder, name)
  return { ...guest, monitor: file(sandboxFiles.monitor), agent: file(sandboxFiles.agent) }
}

/** What began: its process, and the line to its agent. */
export interface Begun {
  pid: number
  link: GuestLink
}

/** Begins as a clone of the template. It runs when this returns. */
export async function beginAsClone(
  guest: Guest,
  size: SandboxSize,
  template: Template,
  around: Around,
): Promise<Begun> {
  await writeFile(guest.disk, template.disk, { mode: 0o600 })
  await writeFile(guest.state, template.state, { mode: 0o600 })
  const state = await open(guest.state)
  await rm(guest.state)
  let pid: number
  try {
    const memoryFile = { path: '/proc/self/fd/4', share: false }
    const args = argumentsOf(guest, size, around, { memoryFile })
    const inherit = [template.memory.descriptor, state.fd]
    await giveDisk(guest, around)
    pid = await launchGuest(guest, args, { ...around, inherit, isIdle: true })
  } finally {
    await state.close()
  }
  return { pid, link: await wake(guest, 'fd:5', 'template') }
}

/** Begins, on the disk that is there, where the state of the file ends. The file is not needed afterwards. */
export async function beginFromState(
  guest: Guest,
  size: SandboxSize,
  file: string,
  around: Around,
): Promise<Begun> {
  const state = await open(file)
  let pid: number
  try {
    await giveDisk(guest, around)
    const args = argumentsOf(guest, size, around)
    pid = await launchGuest(guest, args, { ...around, inherit: [state.fd], isIdle: true })
  } finally {
    await state.close()
  }
  return { pid, link: await wake(guest, 'fd:4', 'own') }
}

/** Begins with a boot. It is slow, and needs nothing but the image. */
export async function beginCold(
  guest: Guest,
  size: SandboxSize,
  image: BuiltImage,
  baseImages: string,
  around: Around,
): Promise<Begun> {
  const kernel = join(guest.folder, 'vmlinuz')
  const initrd = join(guest.folder, 'initrd')
  await makeDisk(guest.disk, {
    base: await keepBaseDisk(image, baseImages),
    image: { diskGb: image.diskGb },
    diskGb: size.diskGb,
    owner: around.user,
  })
  await copyFile(image.kernel, kernel)
  await writeFile(initrd, await withAgent(await readFile(image.initrd)))
  if (around.user) for (const path of [kernel, initrd]) await chown(path, around.user.uid, around.user.gid)
  const boot = { kernel: 'vmlinuz', initrd: 'initrd', clockOptions: around.clockOptions }
  const pid = await launchGuest(guest, argumentsOf(guest, size, around, { boot }), around)
  let isGone = false
  const link = await firstLink(guest.agent, () => {
    if (isGone) throw new Error(`The machine of ${guest.id} ended while it booted`)
    void runningPid(guest).then((running) => {
      isGone = running === undefined
    })
  })
  await link.call('warm', { languages: [], disk: '/dev/vda' }, { timeoutMs: WAKE_TIMEOUT_MS })
  return { pid, link }
}

const argumentsOf = (
  guest: Guest,
  { vcpus, memoryMb }: SandboxSize,
  { accelerator, network }: Around,
  more: Partial<Parameters<typeof sandboxArguments>[0]> = {},
) => sandboxArguments({ id: guest.id, vcpus, memoryMb, accelerator, network, ...more })

async function giveDisk({ disk }: Guest, { user }: Around): Promise<void> {
  if (user) await chown(disk, user.uid, user.gid)
}

/** Greets the agent, which hears us before anybody else, and loads the state into a QEMU that waits for it. */
async function wake(guest: Guest, uri: string, memory: 'template' | 'own'): Promise<GuestLink> {
  const socket = connectToGuest(guest.agent)
  const link = openLink(socket, { timeoutMs: WAKE_TIMEOUT_MS })
  link.catch(() => {})
  try {
    await withMonitor(
      guest.monitor,
      async (monitor) => {
        if (memory === 'template') await ignoreShared(monitor, true)
        await monitor.execute('migrate-incoming', { uri })
        await untilLoaded(monitor)
        if (memory === 'template') await ignoreShared(monitor, false)
        else await monitor.execute('cont')
      },
      { timeoutMs: WAKE_TIMEOUT_MS },
    )
    return await link
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
