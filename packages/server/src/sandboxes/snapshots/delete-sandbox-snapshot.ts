import type { Handler } from '../../dispatch/handler.ts'
import { demandSandboxes } from '../../platform/sandbox-host.ts'
import { isOfTemplate } from '../templates/template-store.ts'
import { stepSnapshot } from './reconcile-snapshots.ts'
import { setSnapshot, snapshotById } from './snapshot-store.ts'

export const deleteSandboxSnapshot: Handler<'deleteSandboxSnapshot'> = async (call) => {
  const { input, db, services } = call
  const { snapshot_id: id } = input
  demandSandboxes(services)
  if (await isOfTemplate(db, id)) {
    // Its files are the template's alone from now on.
    await setSnapshot(db, id, ['ready'], { purpose: 'template' })
    return { deleted: id }
  }
  await setSnapshot(db, id, ['creating', 'ready', 'failed'], { status: 'deleting' })
  call.afterCommit(async () => {
    const row = await snapshotById(services.db, id)
    if (row) await stepSnapshot(services, row)
    return { deleted: id }
  })
  return { deleted: id }
}
