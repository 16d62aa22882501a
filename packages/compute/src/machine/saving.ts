import { createHash, type Hash } from 'node:crypto'
import { closeSync, createReadStream } from 'node:fs'
import { chown, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { asUserWithCaller, type RunAs } from '@coinrack/host/as-user.ts'
import { type CommandError, runCommand } from '@coinrack/host/run-command.ts'
import { withLonelyTap } from '../network/take-tap.ts'
import { type Accelerator, type GuestNetwork, guestFiles, QEMU } from './command-line.ts'
import { type Monitor, withMonitor } from './monitor.ts'
import { type SealedMemory, sealMemory } from './sealed-memory.ts'

/*
 * A machine that is saved while it runs, as the template that others begin as.
 */

export interface TemplateOptions {
  /** Templates lie beside the machines, so that the disks of both name their base image by the same relative path. */
  baseImages: string
  accelerator: Accelerator
  clockOptions: string[]
  /** The kind of network that machines have: it is part of their state. */
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
    const diskSha256 = await sumOf(file(guestFiles.disk))
    if (diskSha256 === undefined) throw new Error('The disk of a template cannot be read')
    const record: TemplateRecord = {
      ...facts,
      builtAt: facts.builtAt.toISOString(),
      memorySha256: memory.sha256,
      stateSha256: sha256(state),
      diskSha256,
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

/** The sum of a file, in hexadecimal; undefined when it cannot be read. */
export async function sumOf(file: string): Promise<string | undefined> {
  const hash: Hash = createHash('sha256')
  try {
    await pipeline(createReadStream(file, { highWaterMark: MIB }), hash)
    return hash.digest('hex')
  } catch {
    return undefined
  }
}

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

/**
 * Saves the machine while it runs, so that its clones run at once, and ends it. Its memory is in its file already, and left out.
 * @param socket its monitor, within the folder
 */
export async function saveState(folder: string, socket: string, user: RunAs | undefined): Promise<Buffer> {
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

/** Whether memory that is a file stays out of what is saved and loaded. */
export const ignoreShared = ({ execute }: Monitor, state: boolean) =>
  execute('migrate-set-capabilities', { capabilities: [{ capability: 'x-ignore-shared', state }] })
