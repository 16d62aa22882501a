import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { CommandError, runCommand } from '@coinrack/host/run-command.ts'
import type { BuiltImage } from '../images/image-store.ts'
import { type Accelerator, processor, QEMU } from './command-line.ts'

export interface Verdict {
  accelerator: Accelerator
  /** For the operator: why this one. */
  reason: string
}

export interface ProbeOptions {
  /** Verdicts are kept here. */
  cacheFolder: string
  image: BuiltImage
  /** The user who will run the guests. */
  user?: RunAs
  onProgress?: (line: string) => void
}

const TIME_LIMIT_SECONDS = 15
/** Said by the kernel when all of it is up, and it begins the first program. */
const ALIVE = 'Run /init as init process'

/**
 * Decides how guests run here. A /dev/kvm that can be opened proves little (nested virtualization may hang), so a
 * real kernel is booted with it, up to its first program. The verdict holds for this boot of the host, this QEMU, this
 * user and this image.
 */
export async function findAcceleration(options: ProbeOptions): Promise<Verdict> {
  const { cacheFolder, image, user, onProgress = () => {} } = options
  const bootId = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
  const { stdout: version } = await runCommand(QEMU, ['--version'])
  const key = createHash('sha256')
    .update(JSON.stringify([bootId, version, user ?? process.getuid?.(), image.name]))
    .digest('hex')
  const folder = join(cacheFolder, 'acceleration')
  const file = join(folder, `${key.slice(0, 16)}.json`)

  const known = await readFile(file, 'utf8').catch(() => undefined)
  if (known !== undefined) return JSON.parse(known) as Verdict

  onProgress('probing hardware acceleration by booting a kernel')
  const verdict = await decide({
    canOpenDevice: await canOpenKvm(user),
    boots: () => bootsWith('kvm', options),
  })
  onProgress(`acceleration: ${verdict.accelerator} (${verdict.reason})`)
  await keepVerdict(folder, file, verdict)
  return verdict
}

/** A cache that only root can write to, who built the images in it, is used all the same. */
async function keepVerdict(folder: string, file: string, verdict: Verdict): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o755 })
    await writeFile(`${file}.part`, JSON.stringify(verdict))
    await rename(`${file}.part`, file)
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/** KVM only when it can be opened and a guest came up with it; else emulation, which always works. */
export async function decide(facts: {
  canOpenDevice: boolean
  boots: () => Promise<boolean>
}): Promise<Verdict> {
  if (!facts.canOpenDevice) return { accelerator: 'tcg', reason: '/dev/kvm is not there or not open to us' }
  if (await facts.boots()) return { accelerator: 'kvm', reason: 'a kernel booted with it' }
  return {
    accelerator: 'tcg',
    reason: '/dev/kvm is there, but no kernel boots with it',
  }
}

/** Whether the image's kernel comes up with this accelerator within the time limit. */
export async function bootsWith(accelerator: Accelerator, { image, user }: ProbeOptions): Promise<boolean> {
  const enough = new AbortController()
  let isAlive = false
  const guest = [
    ...['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot', '-serial', 'stdio'],
    ...['-machine', 'q35,sata=off,smbus=off,usb=off,vmport=off'],
    ...processor({ accelerator }),
    ...['-smp', '2', '-m', '256M'],
    ...['-kernel', image.kernel, '-initrd', image.initrd],
    ...['-append', 'console=ttyS0 panic=-1 root=/dev/none'],
  ]
  try {
    // `timeout` ends the guest also when this process is killed.
    await runCommand('timeout', ['--signal=KILL', String(TIME_LIMIT_SECONDS), QEMU, ...guest], {
      user,
      signal: enough.signal,
      onLine: (line) => {
        if (!line.includes(ALIVE)) return
        isAlive = true
        enough.abort()
      },
    })
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
  }
  return isAlive
}

function canOpenKvm(user: RunAs | undefined): Promise<boolean> {
  return runCommand('sh', ['-c', 'exec 3<>/dev/kvm'], { user }).then(
    () => true,
    () => false,
  )
}
