import { createHash } from 'node:crypto'
import { closeSync } from 'node:fs'
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { asUserWithCaller, type RunAs } from '@coinrack/host/as-user.ts'
import { type CommandError, runCommand } from '@coinrack/host/run-command.ts'
import type { OwnImage } from '../images/disk-images.ts'
import {
  type Accelerator,
  type GuestNetwork,
  guestArguments,
  guestFiles,
  QEMU,
} from '../machine/command-line.ts'
import { keepBaseDisk, makeDisk } from '../machine/disk.ts'
import { withMonitor } from '../machine/monitor.ts'
import { type SealedMemory, sealMemory } from '../machine/sealed-memory.ts'
import { withLonelyTap } from '../network/take-tap.ts'
import { isAgentUp, runScript } from './agent-script.ts'
import { ignoreShared } from './clone.ts'
import { makeSeed } from './seed.ts'
import { PREPARE } from './template-script.ts'

/** What a template and its clones have in common; each combination has its own template. */
export interface TemplateShape {
  image: OwnImage
  vcpus: number
  memoryMb: number
}

export interface TemplateOptions {
  /** Templates lie beside the machines, so that the disks of both name their base image by the same relative path. */
  baseImages: string
  accelerator: Accelerator
  clockOptions: string[]
  /** Of the kind that machines have: it is part of their state. */
  networkKind: GuestNetwork['kind']
  user: RunAs | undefined
  clock: { now(): Date }
  /** By how much the boot of a template yields to everything else, from 0 to 19. */
  niceness: number
}

/** Kept beside the files of a template, written last. */
export interface TemplateRecord {
  image: string
  vcpus: number
  memoryMb: number
  builtAt: string
  memorySha256: string
  stateSha256: string
  diskSha256: string
}

export const templateFiles = { ...guestFiles, state: 'state', record: 'template.json', uses: 'uses' } as const

const MIB = 1024 ** 2
const BOOT_TIMEOUT_MS = 15 * 60_000
const POLL_MS = 500
/** Nobody enters by it: the file of the password keeps what no hash can be. */
const NO_PASSWORD = '*'

/** The arguments of QEMU for a template. Its clones differ in what is no part of a machine's state. */
const templateArguments = (shape: TemplateShape, options: TemplateOptions) =>
  guestArguments({
    id: 'template',
    vcpus: shape.vcpus,
    memoryMb: shape.memoryMb,
    accelerator: options.accelerator,
    clockOptions: options.clockOptions,
    isFirstBoot: true,
    network: { kind: options.networkKind },
    memoryFile: { path: guestFiles.memory, share: true },
  })

/** Names the template of a shape: all that its state depends on, from the image to the version of QEMU. */
export function templateKey(shape: TemplateShape, options: TemplateOptions, version: string): string {
  return createHash('sha256')
    .update(JSON.stringify([shape.image.name, version, templateArguments(shape, options), PREPARE]))
    .digest('hex')
    .slice(0, 16)
}

/**
 * Boots the image once, at low priority, and saves the running machine with its memory as the folder `out`, which
 * appears whole or not at all. QEMU ends with this process. Throws when the guest does not come up in time.
 * @returns the template's memory, loaded
 */
export async function buildTemplate(
  shape: TemplateShape,
  out: string,
  options: TemplateOptions,
): Promise<{ record: TemplateRecord; memory: SealedMemory }> {
  const { image, vcpus, memoryMb } = shape
  const { user, clock } = options
  const work = `${out}.building`
  const file = (name: string) => join(work, name)
  await rm(work, { recursive: true, force: true })
  await mkdir(work, { recursive: true, mode: 0o700 })

  const base = await keepBaseDisk(image, options.baseImages)
  await makeDisk(file(guestFiles.disk), { base, image, diskGb: image.diskGb, owner: user })
  const nobody = {
    id: 'template',
    hostname: 'localhost',
    sshAuthorizedKeys: [],
    rootPasswordHash: NO_PASSWORD,
    sshHostKey: { privateKey: '', publicKey: '' },
  }
  await writeFile(file(guestFiles.seed), makeSeed(nobody, clock.now()), { mode: 0o600 })
  // Of sockets; nobody but us looks into a template.
  await mkdir(dirname(file(guestFiles.monitor)))
  const given = [work, dirname(file(guestFiles.monitor)), file(guestFiles.seed)]
  if (user) for (const path of given) await chown(path, user.uid, user.gid)

  const builtAt = clock.now()
  const args = templateArguments(shape, options)
  const state = await bootAndSave(work, args, guestFiles.monitor, options, async (check) => {
    while (!(await isAgentUp(file(guestFiles.agent), 10 * POLL_MS))) {
      check()
      await sleep(POLL_MS)
    }
    await runScript(file(guestFiles.agent), PREPARE, { timeoutMs: BOOT_TIMEOUT_MS })
  })
  return finishTemplate(work, out, { image: image.name, vcpus, memoryMb, builtAt }, state)
}

/** Seals what was saved in the folder `work`, and makes it the folder `out`. */
export async function finishTemplate(
  work: string,
  out: string,
  facts: { image: string; vcpus: number; memoryMb: number; builtAt: Date },
  state: Buffer,
): Promise<{ record: TemplateRecord; memory: SealedMemory }> {
  const file = (name: string) => join(work, name)
  await writeFile(file(templateFiles.state), state, { mode: 0o600 })
  const memory = await sealMemory(file(guestFiles.memory), facts.memoryMb * MIB)
  try {
    const disk = await readFile(file(guestFiles.disk))
    const record: TemplateRecord = {
      ...facts,
      builtAt: facts.builtAt.toISOString(),
      memorySha256: memory.sha256,
      stateSha256: sha256(state),
      diskSha256: sha256(disk),
    }
    await writeFile(file(templateFiles.record), JSON.stringify(record))
    await rm(out, { recursive: true, force: true })
    await rename(work, out)
    return { record, memory }
  } catch (error) {
    closeSync(memory.descriptor)
    throw error
  }
}

/** In hexadecimal. */
export const sha256 = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex')

/**
 * Runs QEMU in the folder until the machine is prepared and its state is taken.
 * @param monitor its socket, within the folder
 * @param prepare waits for the machine and prepares it; `check` throws when QEMU has ended
 */
export async function bootAndSave(
  folder: string,
  args: string[],
  monitor: string,
  { user, niceness, networkKind }: Pick<TemplateOptions, 'user' | 'niceness' | 'networkKind'>,
  prepare: (check: () => void) => Promise<void>,
): Promise<Buffer> {
  const enough = new AbortController()
  let end: Error | undefined
  const [program, argv] = asUserWithCaller(user, QEMU, args)
  const network = networkKind === 'tap' ? withLonelyTap() : []
  const polite = ['-n', String(niceness), 'ionice', '-c', '2', '-n', '7', ...network, program, ...argv]
  const qemu = runCommand('nice', polite, {
    cwd: folder,
    timeoutMs: BOOT_TIMEOUT_MS,
    signal: enough.signal,
  }).catch((error: CommandError) => {
    end = error
  })
  try {
    await prepare(() => {
      if (end) throw end
    })
    return await saveState(folder, monitor, user)
  } finally {
    enough.abort()
    await qemu
  }
}

/** The machine is saved while it runs: so its clones run at once. Its memory is in its file already, and left out. */
async function saveState(folder: string, socket: string, user: RunAs | undefined): Promise<Buffer> {
  const path = join(folder, guestFiles.outgoing)
  const { promise: received, resolve, reject } = Promise.withResolvers<Buffer>()
  received.catch(() => {})
  const server = createServer((socket) => buffer(socket).then(resolve, reject)).listen(path)
  try {
    await new Promise((listening) => server.once('listening', listening))
    if (user) await chown(path, user.uid, user.gid)
    await withMonitor(join(folder, socket), async (monitor) => {
      const { execute } = monitor
      await ignoreShared(monitor, true)
      await execute('migrate', { uri: `unix:${guestFiles.outgoing}` })
      for (;;) {
        const { status, 'error-desc': reason } = await execute<{ status: string; 'error-desc'?: string }>(
          'query-migrate',
        )
        if (status === 'completed') break
        if (status === 'failed' || status === 'cancelled')
          throw new Error(`Saving a template: ${reason ?? status}`)
        await sleep(20)
      }
      await execute('quit')
    })
    return await received
  } finally {
    server.close()
    await rm(path, { force: true })
  }
}
