import { rm } from 'node:fs/promises'
import type { RunAs } from '@coinrack/host/as-user.ts'
import type { DiskImages } from '../images/disk-images.ts'
import { keepBaseDisk, makeDisk } from '../machine/disk.ts'
import { refuseWhenFull } from '../machine/host-capacity.ts'
import { type Guest, isForeign, readRecord, runningPid, writeSeedOnce } from '../machine/machine.ts'
import type { VpsSpec } from '../ports/vps-driver.ts'
import { makeSeed } from './seed.ts'

/** Room for some packages and logs. */
const DISK_GB = 4
/** What repairs a system of somebody else's image, in which nothing is ours. */
const FOR_FOREIGN = 'debian-13'
/** Whoever logs in shall see where. */
const HOSTNAME = 'rescue'

export interface RescueOptions {
  images: Pick<DiskImages, 'get'>
  dataFolder: string
  baseImages: string
  userOf(guest: Guest): Promise<RunAs | undefined>
  clock: { now(): Date }
}

/**
 * Makes what the rescue system of a machine runs from when that is wanted, and else removes it, while the machine does
 * not run. @returns whether the machine runs its rescue system, or will
 */
export function rescueArranger({ images, dataFolder, baseImages, userOf, clock }: RescueOptions) {
  return async (guest: Guest, spec: VpsSpec): Promise<boolean | undefined> => {
    if (await runningPid(guest)) return (await readRecord(guest))?.rescue
    if (!spec.rescue) {
      await rm(guest.rescueSeed, { force: true })
      await rm(guest.rescueDisk, { force: true })
      return undefined
    }
    const owner = await userOf(guest)
    const image = await images.get((await isForeign(guest)) ? FOR_FOREIGN : spec.image)
    await refuseWhenFull(dataFolder)
    const seed = makeSeed({ ...spec, hostname: HOSTNAME, userData: undefined }, clock.now())
    await writeSeedOnce(guest.rescueSeed, seed, owner)
    const base = await keepBaseDisk(image, baseImages)
    await makeDisk(guest.rescueDisk, { base, image, diskGb: DISK_GB, owner })
    return true
  }
}
