import { stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { lockFile } from '@coinrack/host/file-lock.ts'
import pLimit from 'p-limit'
import { type DiskImages, isOwn, type OwnImage } from '../images/disk-images.ts'
import type { GuestNetwork } from '../machine/command-line.ts'
import { keepBaseDisk, makeDisk } from '../machine/disk.ts'
import { refuseWhenFull } from '../machine/host-capacity.ts'
import {
  isClonePending,
  type Machine,
  type MachineRecord,
  writeRecord,
  writeSeedOnce,
} from '../machine/machine.ts'
import type { StartOptions } from '../machine/machine-process.ts'
import { makeFolder } from '../machine/machine-users.ts'
import { createTemplateStore, type Template } from '../machine/template-store.ts'
import { makeForeignSeed, makeSeed } from '../personality/seed.ts'
import type { VpsSpec } from '../ports/vps-driver.ts'
import { runScript } from './agent-script.ts'
import { makeCidata } from './cidata.ts'
import { makeClone, undoClone } from './clone.ts'
import { guestUplink } from './guest-uplink.ts'
import { unsupported } from './network-spec.ts'
import { START_REST } from './personalise.ts'
import { buildTemplate, type TemplateShape, templateKey } from './template.ts'

export interface MachineMakerOptions {
  dataFolder: string
  baseImages: string
  images: Pick<DiskImages, 'get'>
  /** The user who runs templates, which belong to no customer. */
  user: RunAs | undefined
  clock: { now(): Date }
  log: { info(fields: object, message: string): void }
  /** Whether machines are clones of booted templates; `auto`: under emulation, where a boot takes long. Default `off`. */
  instant?: 'auto' | 'on' | 'off'
  /** By how much the boot of a template yields to everything else. Default 10: more may starve it on a busy host. */
  templateNiceness?: number
  /** How long a clone may take to become a machine of its own, before one is booted instead. Default one minute. */
  cloneTimeoutMs?: number
  /** How guests run on this host. */
  host(): Promise<Pick<StartOptions, 'accelerator' | 'clockOptions'> & { networkKind: GuestNetwork['kind'] }>
  /** Makes what the machine's QEMU runs within. */
  surround(
    machine: Machine,
    record: MachineRecord,
    isClone: boolean,
  ): Promise<Pick<StartOptions, 'network' | 'within' | 'limits' | 'user' | 'jail'>>
  /** The user who runs the machine. */
  userOf(machine: Machine): Promise<RunAs | undefined>
}

/** The properties of a machine that decide which template it comes from. */
export type MachineShape = Pick<VpsSpec, 'image' | 'vcpus' | 'memoryMb'>

/** A first login comes before it. */
const REST_AFTER_MS = 3_000
const REST_TIMEOUT_MS = 60_000
const POLL_MS = 500

/** Makes new machines: as clones where that is possible and wanted, else with a disk that has to be booted. */
export interface MachineMaker {
  /** Whether the machine has all that it needs to run. */
  isMade(machine: Machine): Promise<boolean>
  /** Makes what there is not yet of it: a clone that runs afterwards, or a disk. A clone that fails becomes a disk. */
  make(machine: Machine, spec: VpsSpec): Promise<void>
  /**
   * Builds the template of such machines, when machines are cloned here and no present one lasts for a while. Templates
   * expire: call it now and then for those that must exist before the first order.
   */
  keepTemplate(shape: MachineShape): Promise<void>
}

export function createMachineMaker(options: MachineMakerOptions): MachineMaker {
  const { dataFolder, baseImages, images, user, clock, log, host } = options
  const { instant = 'off', templateNiceness: niceness = 10, cloneTimeoutMs: timeoutMs = 60_000 } = options
  const settings = async () => ({ ...(await host()), baseImages, user, clock, niceness })
  const templates = createTemplateStore({
    folder: join(dataFolder, 'templates'),
    keyOf: async (shape: TemplateShape, version) => templateKey(shape, await settings(), version),
    build: async (shape, out) => buildTemplate(shape, out, await settings()),
    clock,
    log,
  })

  /** In a rush some machines are ready soon rather than all late: a clone in the making keeps a processor busy. */
  const making = pLimit(availableParallelism())
  const resting = pLimit(1)

  /** Lets a clone have the rest of its services, one after the other and while no other clone is made. */
  const bringRest = ({ agent, id }: Machine) =>
    resting(async () => {
      while (making.activeCount + making.pendingCount > 0) await sleep(POLL_MS)
      await runScript(agent, START_REST, { timeoutMs: REST_TIMEOUT_MS })
    }).catch((error) => log.info({ vps: id, err: error }, 'the rest of its services will start by itself'))

  const clonesAreMade = async () =>
    instant === 'on' || (instant === 'auto' && (await host()).accelerator === 'tcg')
  /** Not what only a boot can do for a machine, an IPv6 address of its own; nor against its buyer's wish. */
  const mayBeClone = async ({ boot, addresses }: VpsSpec) =>
    boot !== 'cold' && !addresses?.ipv6 && (await clonesAreMade())
  const isMade = async (machine: Machine) => (await exists(machine.disk)) && !(await isClonePending(machine))

  /** @returns whether the machine is a clone now; when not, nothing of one is left */
  async function clone(machine: Machine, spec: VpsSpec, image: OwnImage): Promise<boolean> {
    const { vcpus, memoryMb } = spec
    const record = recordOf(spec)
    const shape = { image, vcpus, memoryMb }
    const make = async (template: Template) => {
      const about = { vps: spec.id, template: template.key }
      const begun = performance.now()
      const surround = async () => ({ ...(await host()), ...(await options.surround(machine, record, true)) })
      try {
        await makeClone(machine, spec, record, template, { surround, mbr: image.mbr, clock, timeoutMs })
        log.info({ ...about, ms: Math.round(performance.now() - begun) }, 'machine cloned')
        setTimeout(bringRest, REST_AFTER_MS, machine).unref()
        return true
      } catch (error) {
        log.info({ ...about, err: error }, 'no clone came of it: cold boot')
        await undoClone(machine)
        return false
      }
    }
    return making(() => templates.clone(shape, make)).then(
      (isClone) => isClone ?? false,
      (error) => {
        log.info({ vps: spec.id, err: error }, 'no template could be had: cold boot')
        return false
      },
    )
  }

  return {
    isMade,

    async make(machine, spec) {
      const wantsAddresses = Object.keys(spec.addresses ?? {}).length > 0
      if (wantsAddresses && (await host()).networkKind === 'user') throw unsupported()
      const image = await images.get(spec.image)
      await refuseWhenFull(dataFolder)
      const owner = await options.userOf(machine)
      await makeFolder(machine.folder, owner)
      const { lock } = await lockFile(machine.makingLock)
      // Another process makes it.
      if (!lock) return
      try {
        if (await isClonePending(machine)) await undoClone(machine)
        if (await exists(machine.disk)) return
        await writeRecord(machine, recordOf(spec))
        const personality = { ...spec, uplink: guestUplink(spec.addresses) }
        if (isOwn(image)) {
          if ((await mayBeClone(spec)) && (await clone(machine, spec, image))) return
          await writeSeedOnce(machine.seed, makeSeed(personality, clock.now()), owner)
        } else {
          await writeSeedOnce(machine.cidata, await makeCidata(spec, machine.folder), owner)
          await writeSeedOnce(machine.seed, makeForeignSeed(personality, clock.now()), owner)
        }
        const base = await keepBaseDisk(image, baseImages)
        await makeDisk(machine.disk, { base, image, diskGb: spec.diskGb, owner })
      } finally {
        await lock.release()
      }
    },

    async keepTemplate({ image, vcpus, memoryMb }) {
      if (!(await clonesAreMade())) return
      const wanted = await images.get(image)
      if (isOwn(wanted)) await templates.keep({ image: wanted, vcpus, memoryMb })
    },
  }
}

const recordOf = ({ vcpus, memoryMb, sshAddress, addresses, diskGb }: VpsSpec): MachineRecord => ({
  vcpus,
  memoryMb,
  sshAddress,
  addresses,
  diskGb,
})

const exists = async (path: string) => (await stat(path).catch(() => undefined)) !== undefined
