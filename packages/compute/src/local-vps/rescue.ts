import { rm } from 'node:fs/promises'
import type { RunAs } from '@coinrack/host/as-user.ts'
import type { DiskImages } from '../images/disk-images.ts'
import { keepBaseDisk, makeDisk } from '../machine/disk.ts'
import { refuseWhenFull } from '../machine/host-capacity.ts'
import { isForeign, type Machine, readRecord, runningPid, writeSeedOnce } from '../machine/machine.ts'
import { makeSeed } from '../personality/seed.ts'
import type { VpsSpec } from '../ports/vps-driver.ts'
import { guestUplink } from './guest-uplink.ts'

/** Room for some packages and logs. */
const DISK_GB = 4
/** The image that repairs a foreign system, in which nothing is ours. */
const FOR_FOREIGN = 'debian-13'
/** The name that shows a user who logs in where they are. */
const HOSTNAME = 'rescue'

export interface RescueOptions {
  images: Pick<DiskImages, 'get'>
  dataFolder: string
  baseImages: string
  userOf(machine: Machine): Promise<RunAs | undefined>
  clock: { now(): Date }
}

/**
 * Makes what the rescue system of a machine runs from when that is wanted, and else removes it, while the machine does
 * not run. @returns whether the machine runs its rescue system, or will
 */
export function rescueArranger({ images, dataFolder, baseImages, userOf, clock }: RescueOptions) {
  return async (machine: Machine, spec: VpsSpec): Promise<boolean | undefined> => {
    if (await runningPid(machine)) return (await readRecord(machine))?.rescue
    if (!spec.rescue) {
      await rm(machine.rescueSeed, { force: true })
      await rm(machine.rescueDisk, { force: true })
      return undefined
    }
    const owner = await userOf(machine)
    const image = await images.get((await isForeign(machine)) ? FOR_FOREIGN : spec.image)
    await refuseWhenFull(dataFolder)
    const seed = makeSeed(
      { ...spec, hostname: HOSTNAME, userData: undefined, uplink: guestUplink(spec.addresses) },
      clock.now(),
    )
    await writeSeedOnce(machine.rescueSeed, seed, owner)
    const base = await keepBaseDisk(image, baseImages)
    await makeDisk(machine.rescueDisk, { base, image, diskGb: DISK_GB, owner })
    return true
  }
}
