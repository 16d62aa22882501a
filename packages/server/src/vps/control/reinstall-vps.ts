import type { ImageStatus } from '@coinrack/compute/ports/vps-driver.ts'
import { announce } from '../../database/changes.ts'
import { type CallToPrepare, type Handler, preparedHandler } from '../../dispatch/handler.ts'
import { hostImages } from '../../hosts/host-images.ts'
import { type OfferedImage, offeredAmong } from '../../platform/os-images.ts'
import { checkConfirmation } from '../machine/check-confirmation.ts'
import { checkSshKey } from '../machine/check-ssh-key.ts'
import { updateMachine } from '../machine/machine-store.ts'
import { notifyChange } from '../machine/notify-change.ts'
import { newRootPassword } from '../machine/root-password.ts'
import { makeSshHostKey } from '../machine/ssh-host-key.ts'
import { stateRefusal } from '../machine/state-refusal.ts'
import { checkUserData, userDataPurpose } from '../machine/user-data.ts'
import { lockVps, type VpsRow, vpsById } from '../machine/vps-store.ts'
import { vpsView } from '../machine/vps-view.ts'
import { beginWork } from '../machine/work-store.ts'
import { noRoom } from '../orders/capacity.ts'
import { keepDisk } from '../snapshot/keep-disk.ts'
import { RECONCILE_VPS } from '../topics.ts'

const LOSS = 'All data on the disk would be lost'

/** Writes down that another disk is wanted; the reconciler wipes the old one, once, and makes the machine anew. */
export const reinstallVps: Handler<'reinstallVps'> = preparedHandler(
  async (call) => {
    const { input, db, services } = call
    const row = await vpsById(db, input.service_id)
    checkConfirmation(call, row, input.confirm, LOSS)
    const images = await hostImages(db, row.host_id)
    checkImage(call, images, row)
    return { images, password: await newRootPassword(services.random) }
  },
  async (call, { images, password }) => {
    const { input, caller, db, services, fail } = call
    const { sealer, random, clock } = services
    const id = input.service_id
    const row = await lockVps(db, id)
    checkConfirmation(call, row, input.confirm, LOSS)
    const image = checkImage(call, images, row)
    const sshKey =
      input.ssh_key === undefined
        ? row.ssh_key
        : await checkSshKey(db, services, caller.accountId, input.ssh_key, fail)
    const userData = checkUserData(input.user_data, fail)
    if (row.put_back !== null || !['active', 'stopped', 'rebooting', 'reinstalling'].includes(row.status)) {
      throw fail('service_busy', ...stateRefusal(row))
    }
    if (!image.ready) throw noRoom(`The image ${image.name} is still being made ready`)

    await keepDisk(db, services, row, 'reinstall')
    const hostKey = input.new_host_key ? makeSshHostKey(random) : undefined
    await updateMachine(db, id, {
      os_id: image.osId,
      os_name: image.name,
      image: image.slug,
      ssh_key: sshKey,
      root_password: sealer.seal(password.plain, `root-password:${id}`),
      root_password_hash: password.hash,
      ...(hostKey && {
        ssh_host_public_key: hostKey.publicKey,
        ssh_host_private_key: sealer.seal(hostKey.privateKey, `ssh-host-key:${id}`),
      }),
      user_data: userData === undefined ? null : sealer.seal(userData, userDataPurpose(id)),
      // The new disk begins with all that was wished for the old one.
      hostname_pending: false,
      next_root_password: null,
      next_root_password_hash: null,
      wanted: 'running',
      forced: false,
      done_boot: row.wanted_boot,
      wanted_disk: row.wanted_disk + 1,
      status: 'reinstalling',
      ssh_ready: false,
      rescue: false,
      attempts: 0,
      failure_reason: null,
    })
    await notifyChange(db, services, row, { status: 'reinstalling' })
    const operation = await beginWork(db, services, row.account_id, id, 'reinstall')
    services.log.info({ vps: id, image: image.slug, at: clock.now() }, 'Reinstall wanted')
    await announce(db, id)
    await announce(db, RECONCILE_VPS)
    return { service: vpsView(await vpsById(db, id)), operation }
  },
)

function checkImage(
  { input, services, fail }: CallToPrepare<'reinstallVps'>,
  statuses: ImageStatus[],
  row: VpsRow,
): OfferedImage {
  const plan = services.catalog.plans.find(({ slug }) => slug === row.product)
  const images = offeredAmong(statuses, { images: plan?.images, disk_gb: row.disk_gb })
  return (
    images.find(({ osId }) => osId === input.os_id) ??
    fail('os_not_supported', `Plan ${row.product} has no OS image ${input.os_id}`)
  )
}
