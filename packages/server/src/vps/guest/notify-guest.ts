import { GuestError } from '@coinrack/compute/ports/guest-channel.ts'
import type { VpsObservation } from '@coinrack/compute/ports/vps-driver.ts'
import { announce } from '../../database/changes.ts'
import { hostOf } from '../../platform/machine-host.ts'
import type { Services } from '../../platform/services.ts'
import { keepHostname, keepNextPassword, updateMachine } from '../machine/machine-store.ts'
import type { VpsRow } from '../machine/vps-store.ts'

/** The message that the owner reads while nothing inside listens. */
const AWAY =
  'The guest agent does not answer: a name waits for it, a password is set at the next boot by power_vps (reboot)'

/** The message where the service cannot act inside machines. */
const AT_BOOT = 'It is set at the next boot by power_vps (reboot)'

/**
 * Tells a running machine what was wished for its inside. When no agent answers it is tried again later; a password
 * may have been taken over by the last boot.
 */
export async function notifyGuest(services: Services, row: VpsRow, seen: VpsObservation): Promise<void> {
  const { db, log } = services
  const { guests } = hostOf(services, row)
  const { id, hostname, next_root_password_hash: hash } = row
  if (hash !== null && row.boot_password_hash === hash && seen.bootChange === 'taken') {
    await keepNextPassword(db, id, hash)
    return announce(db, id)
  }
  if (!row.features.includes('guest_commands')) {
    if (row.wish_failure !== AT_BOOT) await updateMachine(db, id, { wish_failure: AT_BOOT })
    return
  }
  try {
    if (row.hostname_pending) {
      await guests.setHostname(id, hostname)
      await keepHostname(db, id, hostname)
    }
    if (hash !== null) {
      await guests.setRootPasswordHash(id, hash)
      await keepNextPassword(db, id, hash)
    }
    await announce(db, id)
  } catch (error) {
    if (!(error instanceof GuestError)) throw error
    log.warn({ err: error, vps: id }, 'A machine could not be told; it is tried again')
    if (row.wish_failure !== AWAY) await updateMachine(db, id, { wish_failure: AWAY })
  }
}

/**
 * Before a boot: lets it take over a password that the machine was not told yet. One that it has been given is not given again, since the
 * boot may be over that took it.
 * @returns whether there is one to take
 */
export async function handOverAtBoot(
  services: Services,
  row: VpsRow,
  { bootChange }: VpsObservation,
): Promise<boolean> {
  const { id, hostname, next_root_password_hash: rootPasswordHash } = row
  if (rootPasswordHash === null) return false
  if (row.boot_password_hash === rootPasswordHash && bootChange !== undefined) return bootChange === 'waiting'
  await hostOf(services, row).driver.changeAtBoot(id, { hostname, rootPasswordHash })
  // Only after it lies ready: what a boot has taken is compared with this.
  await updateMachine(services.db, id, { boot_password_hash: rootPasswordHash })
  return true
}
