import {
  DriverError,
  type DriverErrorCode,
  type VpsObservation,
  type VpsSpec,
} from '@coinrack/compute/ports/vps-driver.ts'
import { announce } from '../../database/changes.ts'
import { inTransaction } from '../../database/transaction.ts'
import type { Metrics } from '../../dispatch/read-models.ts'
import { hostOf } from '../../platform/machine-host.ts'
import type { Services } from '../../platform/services.ts'
import { handOverAtBoot, notifyGuest } from '../guest/notify-guest.ts'
import { moveVps } from '../move/move-vps.ts'
import { freePorts } from '../network/network-store.ts'
import { unwantNames } from '../network/rdns/rdns-store.ts'
import { deliverVps, failVps } from './deliver-vps.ts'
import { recordMachine, updateMachine } from './machine-store.ts'
import { moveSshPort } from './move-ssh-port.ts'
import { moveToAnotherHost } from './move-to-another-host.ts'
import { notifyChange } from './notify-change.ts'
import type { Step } from './plan-vps.ts'
import { destroyKeepingDisk, putDiskBack, wipeDisk } from './replace-disk.ts'
import { userDataPurpose } from './user-data.ts'
import type { VpsRow } from './vps-store.ts'
import { settleWork } from './work-store.ts'

/** The reason that a customer is told: a driver's own words are about the operator's host. */
const WHY: Record<DriverErrorCode, string> = {
  image_unknown: 'The OS image is no longer offered',
  image_not_ready: 'The OS image was not ready',
  spec_invalid: 'This host cannot run such a machine',
  machine_unknown: 'The machine disappeared',
  snapshot_unknown: 'The snapshot disappeared',
  snapshot_damaged: 'The snapshot cannot be read',
  no_space: 'The host had no room for the machine',
  unsupported: 'This host has no networks for machines',
  guest_failed: 'The machine did not start',
  port_taken: 'The port of the machine was taken by another one',
}

/** Takes the next step with one VPS, and writes down what is so then. May be cut short at any point, and repeated. */
export async function takeStep(
  services: Services,
  row: VpsRow,
  seen: VpsObservation,
  step: Step,
  observation: Metrics,
): Promise<void> {
  const { db, clock } = services
  const { id } = row
  const { driver } = hostOf(services, row)
  switch (step.do) {
    case 'ensure':
      return tryToMake(services, row, () => driver.ensure(specOf(services, row)))
    case 'start_again':
      return tryToMake(services, row, async () => {
        await driver.ensure(specOf(services, row))
        await driver.power(id, 'start', row.wanted_boot)
      })
    case 'power':
      return power(services, row, seen, step.action)
    case 'tell':
      await notifyGuest(services, row, seen)
      return updateMachine(db, id, { observation })
    case 'wipe':
      return wipeDisk(services, row, seen.state !== 'absent')
    case 'put_back':
      return tryToMake(services, row, () => putDiskBack(services, row, step.disk))
    case 'destroy':
      return destroyKeepingDisk(services, row, async (tx) => {
        await freePorts(tx, id)
        await unwantNames(tx, id, clock.now())
        await updateMachine(tx, id, { machine_gone_at: clock.now() })
        await settleWork(tx, id, clock.now())
      })
    case 'make_elsewhere':
      if (await moveToAnotherHost(services, row)) return
      return failVps(services, id, 'The host of the machine was lost')
    case 'move':
      return moveVps(services, row, seen)
    case 'fail':
      return failVps(services, id, step.reason)
    case 'deliver':
      return deliverVps(services, id)
    case 'record':
      await inTransaction(db, async (tx) => {
        const now = { status: step.status, ssh_ready: step.sshReady }
        if (await recordMachine(tx, row, { ...now, observation })) await notifyChange(tx, services, row, now)
      })
      return announce(db, id)
    case 'nothing':
      if (row.status === 'active') await updateMachine(db, id, { observation })
  }
}

async function tryToMake(services: Services, row: VpsRow, make: () => Promise<void>): Promise<void> {
  try {
    await make()
  } catch (error) {
    // Without an answer nothing is known of the machine: that is no attempt, and the process that tends it looks again.
    if (!(error instanceof DriverError)) throw error
    services.log.warn({ err: error, vps: row.id }, 'A machine could not be made; it is tried again')
    const { code } = error
    if (code === 'port_taken' && (await moveSshPort(services, row))) return
    if (isOfHost(code) && (await moveToAnotherHost(services, row))) return
    await updateMachine(services.db, row.id, { attempts: row.attempts + 1, failure_reason: WHY[code] })
  }
}

/** Whether another host may be able to do what this one could not. */
const isOfHost = (code: DriverErrorCode) =>
  code === 'no_space' || code === 'image_unknown' || code === 'image_not_ready' || code === 'unsupported'

async function power(
  services: Services,
  row: VpsRow,
  seen: VpsObservation,
  action: 'start' | 'stop' | 'reboot' | 'force_stop' | 'reset',
) {
  const { driver } = hostOf(services, row)
  if (action === 'start') await driver.ensure(specOf(services, row))
  const isHandedOver =
    row.rescue || action === 'stop' || action === 'force_stop'
      ? false
      : await handOverAtBoot(services, row, seen)
  // A reset keeps the process, and with it what it was started with.
  if (isHandedOver && action === 'reset') await driver.power(row.id, 'force_stop')
  const isBoot = action === 'start' || action === 'reboot' || action === 'reset'
  await driver.power(row.id, action, isBoot ? row.wanted_boot : undefined)
  await updateMachine(services.db, row.id, {
    ssh_ready: false,
    // A start is a boot as well: no other is owed for a wish that came before it.
    ...(isBoot ? { done_boot: row.wanted_boot } : {}),
    ...(action === 'start' ? { done_rescue: row.rescue } : {}),
  })
  await announce(services.db, row.id)
}

function specOf({ sealer }: Services, row: VpsRow): VpsSpec {
  return {
    id: row.id,
    vcpus: row.vcpus,
    memoryMb: row.memory_mb,
    diskGb: row.disk_gb,
    image: row.image,
    hostname: row.hostname,
    sshAuthorizedKeys: row.ssh_key ? [row.ssh_key] : [],
    rootPasswordHash: row.root_password_hash,
    sshHostKey: {
      privateKey: sealer.open(row.ssh_host_private_key, `ssh-host-key:${row.id}`),
      publicKey: row.ssh_host_public_key,
    },
    sshAddress: { host: row.ssh_host, port: row.ssh_port },
    boot: row.boot,
    addresses: { ...(row.ipv4 && { ipv4: row.ipv4 }), ...(row.ipv6 && { ipv6: row.ipv6 }) },
    rescue: row.rescue,
    userData: row.user_data ? sealer.open(row.user_data, userDataPurpose(row.id)) : undefined,
  }
}
