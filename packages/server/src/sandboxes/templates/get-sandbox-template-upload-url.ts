import type { Handler } from '../../dispatch/handler.ts'
import { demandSandboxes } from '../../platform/sandbox-host.ts'
import { isBusy } from './begin-build.ts'
import { lastBuilds } from './build-store.ts'
import { templateById } from './template-store.ts'
import { uploadUrl } from './upload-links.ts'

export const getSandboxTemplateUploadUrl: Handler<'getSandboxTemplateUploadUrl'> = async ({
  input,
  caller,
  db,
  services,
}) => {
  const { template_id: templateId, folder, expires_in } = input
  demandSandboxes(services)
  const template = await templateById(db, templateId)
  const build = (await lastBuilds(db, [templateId])).get(templateId)
  if (template.source === 'dockerfile' && build?.status === 'running') throw isBusy(template)
  const expiresAt = new Date(services.clock.now().getTime() + expires_in * 1000)
  return {
    url: uploadUrl(services, { templateId, folder, expiresAt, tokenId: caller.tokenId }),
    method: 'PUT',
    expires_at: expiresAt,
  }
}
