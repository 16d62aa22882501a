import { createHash } from 'node:crypto'
import { chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BuiltImage } from '../images/image-store.ts'
import { keepBaseDisk, makeDisk } from '../machine/disk.ts'
import { connectToGuest } from '../machine/guest-socket.ts'
import { bootAndSave, finishTemplate, sha256, type TemplateOptions } from '../machine/saving.ts'
import type { CodeLanguage } from '../ports/sandbox-channel.ts'
import type { SandboxSize } from '../ports/sandbox-runtime.ts'
import { withAgent } from './agent-files.ts'
import { type AgentSession, openSession } from './agent-session.ts'
import { sandboxArguments, sandboxFiles } from './command-line.ts'
import { prime } from './prime.ts'
import { renew } from './renew.ts'

/** The properties that a template and its clones have in common. */
export interface SandboxShape extends SandboxSize {
  image: BuiltImage
  warm: CodeLanguage[]
  first?: string
}

const BOOT_TIMEOUT_MS = 5 * 60_000
const GREET_MS = 2_000
const POLL_MS = 50
/**
 * The clock of a template while its interpreters start. The jump to the time of a clone makes OpenSSL, which draws its
 * seed anew after an hour, do so in each of them.
 */
const LONG_AGO = Date.UTC(2020, 0, 1)

const argumentsOf = (shape: SandboxShape, options: TemplateOptions) =>
  sandboxArguments({
    id: 'template',
    vcpus: shape.vcpus,
    memoryMb: shape.memoryMb,
    accelerator: options.accelerator,
    network: { kind: options.networkKind },
    memoryFile: { path: sandboxFiles.memory, share: true },
    boot: { kernel: shape.image.kernel, initrd: 'initrd', clockOptions: options.clockOptions },
  })

/** Names the template of a shape: all that its state depends on, from the image and the agent to the version of QEMU. */
export async function sandboxTemplateKey(
  shape: SandboxShape,
  options: TemplateOptions,
  version: string,
): Promise<string> {
  const agent = sha256(await withAgent(Buffer.alloc(0)))
  const facts = [
    shape.image.name,
    agent,
    shape.warm,
    shape.first,
    shape.diskGb,
    version,
    argumentsOf(shape, options),
  ]
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 16)
}

/**
 * Boots the image once and saves it, with the agent and interpreters running, as the folder `out`, which appears whole
 * or not at all. Throws when the guest does not come up in time.
 */
export async function buildSandboxTemplate(shape: SandboxShape, out: string, options: TemplateOptions) {
  const { image, vcpus, memoryMb, diskGb, warm, first } = shape
  const { user, clock, baseImages } = options
  const work = `${out}.building`
  const file = (name: string) => join(work, name)
  await rm(work, { recursive: true, force: true })
  await mkdir(dirname(file(sandboxFiles.monitor)), { recursive: true, mode: 0o700 })
  const base = await keepBaseDisk(image, baseImages)
  await makeDisk(file(sandboxFiles.disk), { base, image: { diskGb: image.diskGb }, diskGb, owner: user })
  await writeFile(file('initrd'), await withAgent(await readFile(image.initrd)))
  if (user)
    for (const path of [work, dirname(file(sandboxFiles.monitor))]) await chown(path, user.uid, user.gid)

  const builtAt = clock.now()
  let session: AgentSession | undefined
  try {
    const args = argumentsOf(shape, options)
    const state = await bootAndSave(work, args, sandboxFiles.monitor, options, async (check) => {
      session = await firstSession(file(sandboxFiles.agent), check)
      // As each clone will be, so that its own is short: what has to be mounted is mounted, what is read is in memory.
      await renew(session, new Date(LONG_AGO), { hostname: 'template', machineId: 'template', env: {} })
      await session.call('warm', { languages: warm, first, disk: '/dev/vda' }, { timeoutMs: BOOT_TIMEOUT_MS })
      await prime(session, shape)
      await session.call('sync', {}, { timeoutMs: BOOT_TIMEOUT_MS })
    })
    const facts = { image: image.name, vcpus, memoryMb, builtAt }
    return await finishTemplate(work, out, facts, state)
  } finally {
    session?.close()
  }
}

/** Greets the agent of a machine that boots. */
export async function firstSession(path: string, check: () => void): Promise<AgentSession> {
  for (let waited = 0; ; waited += POLL_MS) {
    check()
    try {
      return await openSession(connectToGuest(path), { timeoutMs: GREET_MS })
    } catch (error) {
      if (waited > BOOT_TIMEOUT_MS) throw error
      await sleep(POLL_MS)
    }
  }
}
