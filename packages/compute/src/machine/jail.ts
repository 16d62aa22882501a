import { createHash } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { PID_DESCRIPTOR } from '@coinrack/host/detached-process.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { type Accelerator, QEMU } from './command-line.ts'
import { groupsOfDevice, KVM } from './machine-users.ts'

/*
 * A QEMU that its guest has taken over sees nothing of the host but what the machine needs: it runs in mount, PID, IPC
 * and UTS namespaces of its own, on a root that holds QEMU, its libraries and firmware, the machine's folder and the
 * images that disks build on. See decision 148.
 */

/** The parts of the host that a machine may have. */
export interface JailWish {
  /** The machine's folder, in which QEMU starts. */
  folder: string
  user: RunAs
  accelerator: Accelerator
}

export interface Jail {
  /**
   * The words before the command line of a machine's QEMU, which make it the machine's user and take its capabilities
   * as well. Undefined where this host allows no such namespaces.
   */
  enter(wish: JailWish): Promise<string[] | undefined>
}

export interface JailOptions {
  /** Where the root is kept. It is made anew when it is gone or the host's QEMU is another. */
  cacheFolder: string
  /** Images that disks build on, read-only. */
  baseImages: string
  log: { info(fields: object, message: string): void }
}

const ENTER = join(import.meta.dirname, 'enter-jail.pl')
const MAKE_ROOT = join(import.meta.dirname, 'make-jail-root.sh')
const DEVICES = ['/dev/null', '/dev/urandom']

/** The groups that may open the device of an accelerator, beside its own group: none where instructions are translated. */
export async function rightsFor(
  user: RunAs | undefined,
  accelerator: Accelerator,
  device = KVM,
): Promise<RunAs | undefined> {
  return user && { ...user, groups: accelerator === 'kvm' ? await groupsOfDevice(device) : [] }
}

export function createJail({ cacheFolder, baseImages, log }: JailOptions): Jail {
  let made: Promise<string> | undefined
  let possible: Promise<boolean> | undefined

  const rootOf = async () => {
    made ??= makeRoot(cacheFolder)
    const root = await made.catch((error) => {
      made = undefined
      throw error
    })
    if (await exists(root)) return root
    made = makeRoot(cacheFolder)
    return made
  }

  const words = (root: string, { folder, user, accelerator }: JailWish) => {
    const devices = [...DEVICES, ...(accelerator === 'kvm' ? [KVM] : [])]
    return [
      ...['perl', ENTER, String(PID_DESCRIPTOR), root, folder, baseImages],
      ...[String(user.uid), String(user.gid), (user.groups ?? []).join(',')],
      devices.map((device) => `${device}=${device}`).join(','),
    ]
  }

  /** Lets a real QEMU say its version in there. */
  const tryOut = async (): Promise<boolean> => {
    if (process.getuid?.() !== 0 || process.arch !== 'x64') return false
    const folder = await mkdtemp(join(tmpdir(), 'coinrack-jail-'))
    try {
      await chmod(folder, 0o755)
      const user = { uid: 65_534, gid: 65_534 }
      const inside = [...words(await rootOf(), { folder, user, accelerator: 'tcg' }), QEMU, '--version']
      const script = `exec ${PID_DESCRIPTOR}<>pid; exec "$@"`
      const { stdout } = await runCommand('sh', ['-c', script, 'sh', ...inside], { cwd: folder })
      if (!stdout.includes('QEMU')) throw new Error(`It said: ${stdout}`)
      return true
    } catch (error) {
      log.info({ err: error }, "Machines' QEMU sees the files and processes that any user of this host sees")
      return false
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  return {
    async enter(wish) {
      possible ??= tryOut()
      return (await possible) ? words(await rootOf(), wish) : undefined
    },
  }
}

/** @returns the folder for the QEMU that the host has now */
async function makeRoot(cacheFolder: string): Promise<string> {
  const { stdout } = await runCommand('sh', [MAKE_ROOT, QEMU])
  const key = createHash('sha256').update(stdout).digest('hex').slice(0, 16)
  const root = join(cacheFolder, `qemu-root-${key}`)
  await mkdir(cacheFolder, { recursive: true })
  if (await exists(root)) return root
  const part = await mkdtemp(`${root}.part-`)
  try {
    await runCommand('sh', [MAKE_ROOT, QEMU, part])
    await chmod(part, 0o755)
    await rename(part, root).catch(async (error) => {
      // Another process was quicker.
      if (!(await exists(root))) throw error
    })
  } finally {
    await rm(part, { recursive: true, force: true })
  }
  return root
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )
