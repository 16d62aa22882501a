import { createHash } from 'node:crypto'
import { chown, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OwnImage } from '../images/disk-images.ts'
import { guestArguments, guestFiles } from '../machine/command-line.ts'
import { keepBaseDisk, makeDisk } from '../machine/disk.ts'
import { bootAndSave, finishTemplate, type TemplateOptions, type TemplateRecord } from '../machine/saving.ts'
import type { SealedMemory } from '../machine/sealed-memory.ts'
import { makeSeed } from '../personality/seed.ts'
import { isAgentUp, runScript } from './agent-script.ts'
import { guestUplink } from './guest-uplink.ts'
import { PREPARE } from './template-script.ts'

/** The properties that a template and its clones have in common; each combination has its own template. */
export interface TemplateShape {
  image: OwnImage
  vcpus: number
  memoryMb: number
}

const BOOT_TIMEOUT_MS = 15 * 60_000
const POLL_MS = 500
/** A value that no password hash can have, so that it lets no user in. */
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
    uplink: guestUplink(),
  }
  await writeFile(file(guestFiles.seed), makeSeed(nobody, clock.now()), { mode: 0o600 })
  // The folder of sockets; only the service looks into a template.
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
