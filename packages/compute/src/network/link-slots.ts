import { hostClaims } from '@coinrack/host/host-claims.ts'
import { DriverError } from '../ports/vps-driver.ts'
import { HIGHEST_SLOT } from './addresses.ts'

/** Which machine has which link addresses: kept beside the namespaces, which a reboot ends as well. */
const claims = hostClaims('links')

/** The slot of a machine, the same for as long as it has one; takes the lowest free one when it has none. */
export async function takeSlot(id: string): Promise<number> {
  for (;;) {
    const taken = await claims.all()
    const own = taken.get(id)
    if (own !== undefined) return own
    const used = new Set(taken.values())
    let slot = 1
    while (used.has(slot)) slot++
    if (slot > HIGHEST_SLOT)
      throw new DriverError('no_space', `This host has links for ${HIGHEST_SLOT} machines`)
    if (await claims.claim(slot, id)) return slot
  }
}

/** The slot that the machine has. */
export async function slotOf(id: string): Promise<number | undefined> {
  return (await claims.all()).get(id)
}

export const freeSlot = (slot: number, id: string): Promise<void> => claims.free(slot, id)
