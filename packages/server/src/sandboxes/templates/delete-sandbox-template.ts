import { announce } from '../../database/changes.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { demandSandboxes } from '../../platform/sandbox-host.ts'
import { BUILD_BEGINS } from './begin-build.ts'
import { dropSnapshot, templateById, updateTemplate } from './template-store.ts'

export const deleteSandboxTemplate: Handler<'deleteSandboxTemplate'> = async ({ input, db, services }) => {
  const { template_id: id } = input
  demandSandboxes(services)
  const { snapshot_id } = await templateById(db, id)
  await updateTemplate(db, id, { deleted_at: services.clock.now() })
  if (snapshot_id !== null) await dropSnapshot(db, snapshot_id)
  // A build of it ends with the next pass.
  await announce(db, id)
  await announce(db, BUILD_BEGINS)
  return { deleted: id }
}
