import { randomBytes, randomUUID } from 'node:crypto'
import { chown, type FileHandle, link, open, rm, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { stopDetached } from '@coinrack/host/detached-process.ts'
import { writeMbr } from '../machine/disk.ts'
import type { Machine, MachineRecord } from '../machine/machine.ts'
import { INHERITED_STATE, type StartOptions, startMachine } from '../machine/machine-process.ts'
import { withMonitor } from '../machine/monitor.ts'
import { ignoreShared } from '../machine/saving.ts'
import { type Template, writeDisk } from '../machine/template-store.ts'
import { noSeed } from '../personality/seed.ts'
import type { VpsSpec } from '../ports/vps-driver.ts'
import { runScript } from './agent-script.ts'
import { guestUplink } from './guest-uplink.ts'
import { PERSONALISE, personalInput } from './personalise.ts'

const GIB = 1024 ** 3
const POLL_MS = 10
const SCRIPT_POLL_MS = 100
const RESUME_TIMEOUT_MS = 30_000

export interface CloneOptions {
  /** Makes what QEMU runs within, and says how it is started there. */
  surround(): Promise<Omit<StartOptions, 'template'>>
  mbr: string
  clock: { now(): Date }
  /** For the clone to become a machine of its own. */
  timeoutMs: number
}

/**
 * Makes the machine as a clone of a template that runs, and makes it one of its own, up to an SSH server that answers.
 * The caller holds the machine's lock. Cut short anywhere, it leaves the machine's mark, and `undoClone` removes what
 * there is: a clone that is not certainly personalised is never handed out.
 */
export async function makeClone(
  machine: Machine,
  spec: VpsSpec,
  record: MachineRecord,
  template: Template,
  options: CloneOptions,
): Promise<void> {
  await writeFile(machine.cloneMark, '')
  const start = await options.surround()
  await layOut(machine, spec, template, { mbr: options.mbr, user: start.user })
  const state = await openState(machine, template.state)
  try {
    const files = { memory: template.memory.descriptor, state: state.fd }
    await startMachine(machine, record, { ...start, template: files })
  } finally {
    await state.close()
  }
  await resume(machine, spec.diskGb)
  const now = options.clock.now()
  const facts = {
    ...spec,
    personality: { ...spec, uplink: guestUplink(spec.addresses) },
    now,
    randomBytes,
    randomUuid: randomUUID,
  }
  await runScript(machine.agent, PERSONALISE, {
    ...personalInput(facts),
    timeoutMs: options.timeoutMs,
    longestPollMs: SCRIPT_POLL_MS,
  })
  await rm(machine.cloneMark)
}

/** Removes a clone that was begun: afterwards the machine can be made in another way. Does nothing without one. */
export async function undoClone(machine: Machine): Promise<void> {
  await stopDetached(machine.pidFile, { signal: 'SIGKILL' })
  for (const path of [machine.disk, partOf(machine), machine.seed, machine.state])
    await rm(path, { force: true })
  // Last, since it says that the rest is to be removed.
  await rm(machine.cloneMark, { force: true })
}

const partOf = ({ disk }: Machine) => `${disk}.clone`

async function layOut(
  machine: Machine,
  { diskGb }: VpsSpec,
  template: Template,
  { mbr, user }: { mbr: string; user: StartOptions['user'] },
): Promise<void> {
  const part = partOf(machine)
  await writeFile(machine.seed, noSeed(), { mode: 0o600 })
  await writeDisk(template, part)
  await writeMbr(part, { mbr, diskGb })
  if (user) for (const path of [part, machine.seed]) await chown(path, user.uid, user.gid)
  await link(part, machine.disk)
  await rm(part)
}

/** Opens the template's state as a file of this clone alone, which no other process can reach by a name. */
async function openState({ state: path }: Machine, state: Buffer): Promise<FileHandle> {
  await writeFile(path, state, { mode: 0o600 })
  const file = await open(path)
  await rm(path)
  return file
}

/** Lets a QEMU that waits for it have the template's state; the machine runs as soon as it has it. */
async function resume(machine: Machine, diskGb: number): Promise<void> {
  await withMonitor(
    machine.monitor,
    async (monitor) => {
      const { execute } = monitor
      await ignoreShared(monitor, true)
      await execute('migrate-incoming', { uri: INHERITED_STATE })
      for (let waited = 0; ; waited += POLL_MS) {
        const { status } = await execute<{ status: string }>('query-status')
        if (status === 'running') break
        if (waited >= RESUME_TIMEOUT_MS) throw new Error(`A clone did not wake: ${status}`)
        await sleep(POLL_MS)
      }
      // It would be part of each snapshot of the machine, and asked for when that is loaded.
      await ignoreShared(monitor, false)
      await execute('block_resize', { device: 'root', size: diskGb * GIB })
    },
    { timeoutMs: RESUME_TIMEOUT_MS },
  )
}
