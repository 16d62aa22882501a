import { DriverError } from '@coinrack/compute/ports/vps-driver.ts'
import { announce } from '../../database/changes.ts'
import { inTransaction, type Transaction } from '../../database/transaction.ts'
import { post } from '../../ledger/post.ts'
import { hostOf } from '../../platform/machine-host.ts'
import type { Services } from '../../platform/services.ts'
import { periodsFrom } from '../billing/period-store.ts'
import { setOrderStatus } from '../orders/order-store.ts'
import { systemOfVps } from '../snapshot/kept-system.ts'
import { forgetOwnSnapshots, setSnapshot, snapshotById } from '../snapshot/snapshot-store.ts'
import { updateMachine } from './machine-store.ts'
import { notifyChange } from './notify-change.ts'
import { lockVps, type VpsRow } from './vps-store.ts'

const DAMAGED = 'The snapshot cannot be read'

/** Destroys the machine, after its disk was kept where that is wanted. What is written down then happens with `done`. */
export async function destroyKeepingDisk(
  services: Services,
  row: VpsRow,
  done: (tx: Transaction) => Promise<void>,
): Promise<void> {
  const { id, set_aside_as: keptId } = row
  const kept = keptId === null ? undefined : await setAside(services, row, keptId)
  // Once the machine is gone, the reason why its disk was not kept would be lost.
  if (keptId !== null && kept?.status === 'failed')
    await inTransaction(services.db, (tx) => noteKept(tx, row, keptId, kept))
  await hostOf(services, row).driver.destroy(id)
  await inTransaction(services.db, async (tx) => {
    await lockVps(tx, id)
    if (keptId !== null && kept?.status === 'ready') await noteKept(tx, row, keptId, kept)
    await forgetOwnSnapshots(tx, id)
    await done(tx)
    await announce(tx, id)
  })
}

async function noteKept(tx: Transaction, { id }: VpsRow, keptId: string, kept: Kept): Promise<void> {
  await lockVps(tx, id)
  await setSnapshot(tx, keptId, 'creating', kept)
  await updateMachine(tx, id, { set_aside_as: null })
}

type Kept = Awaited<ReturnType<typeof setAside>>

/** The outcome of the snapshot: the disk is kept, or there is a reason to go on without. */
async function setAside(services: Services, row: VpsRow, keptId: string) {
  const { id, wanted } = row
  try {
    const { consistency } = await hostOf(services, row).retainedDisks.setAside(id, keptId)
    return { status: 'ready', consistency } as const
  } catch (error) {
    const code = error instanceof DriverError ? error.code : undefined
    // A full host gets room by what is deleted, and by nothing else.
    const isInTheWay = code === 'no_space' && wanted === 'deleted'
    if (code !== 'machine_unknown' && !isInTheWay) throw error
    services.log.error({ err: error, vps: id, snapshot: keptId }, 'A disk could not be kept')
    const failure_reason = isInTheWay ? 'The host had no room for it' : 'There was no disk to keep'
    return { status: 'failed', failure_reason } as const
  }
}

/** Takes the present disk from a machine that is to have another. */
export async function wipeDisk(services: Services, row: VpsRow, isThere: boolean): Promise<void> {
  const { id, put_back: keptId } = row
  // Nothing is given up for a disk that cannot be read.
  if (keptId !== null && !(await hostOf(services, row).retainedDisks.isSound(id, keptId)))
    return giveUp(services, id, keptId, isThere)
  await destroyKeepingDisk(services, row, (tx) =>
    updateMachine(tx, id, { done_disk: row.wanted_disk, done_rescue: false }),
  )
}

/** Gives a machine without a disk the kept one, and its VPS what was known of the system on it. */
export async function putDiskBack(services: Services, before: VpsRow, keptId: string): Promise<void> {
  const { id } = before
  await hostOf(services, before).retainedDisks.putBack(id, keptId)
  await inTransaction(services.db, async (tx) => {
    const row = await lockVps(tx, id)
    if (row.put_back !== keptId) return
    const { system } = (await snapshotById(tx, keptId))!
    await updateMachine(tx, id, {
      ...systemOfVps(system!, row.hostname),
      put_back: null,
      status: 'rebooting',
      done_boot: row.wanted_boot,
      attempts: 0,
      failure_reason: null,
    })
    await notifyChange(tx, services, row, { status: 'rebooting' })
    await setSnapshot(tx, keptId, 'restoring', { status: 'deleted' })
    await announce(tx, id)
  })
}

/** The machine stays what it is: as it was; or gone, with what was charged to bring it back credited. */
async function giveUp(services: Services, id: string, keptId: string, isThere: boolean): Promise<void> {
  const { db, newId, clock } = services
  await inTransaction(db, async (tx) => {
    const row = await lockVps(tx, id)
    if (row.put_back !== keptId) return
    await setSnapshot(tx, keptId, 'restoring', { status: 'damaged', failure_reason: DAMAGED })
    const change = { put_back: null, done_disk: row.wanted_disk }
    await notifyChange(tx, services, row, { status: isThere ? 'rebooting' : 'deleted' })
    if (isThere) await updateMachine(tx, id, { ...change, status: 'rebooting' })
    else {
      await updateMachine(tx, id, { ...change, wanted: 'deleted', status: 'deleted' })
      await services.invoicing.cancelRenewal(tx, services, id)
      await setOrderStatus(tx, row.order_id, 'cancelled')
      const at = clock.now()
      const periods = await periodsFrom(tx, id, at)
      const charged = periods.reduce((sum, { paid }) => sum + paid, 0n)
      if (charged > 0n)
        await post(tx, {
          id: newId('transaction'),
          kind: 'refund',
          accountId: row.account_id,
          reference: `restore-failed:${keptId}`,
          description: `${row.hostname} could not be restored`,
          postings: [{ from: 'revenue.vps', to: 'customer.available', amount: charged }],
          at,
        })
    }
    await announce(tx, id)
  })
}
