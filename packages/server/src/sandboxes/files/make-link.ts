import type { SandboxUse } from '../../dispatch/read-models.ts'
import { OperationError } from '../../platform/errors.ts'
import { demandSandboxes } from '../../platform/sandbox-host.ts'
import type { Services } from '../../platform/services.ts'
import { shownState } from '../life/sandbox-view.ts'
import { stateRefusal } from '../life/state-refusal.ts'
import { type FileLink, linkUrl } from './file-links.ts'

/** A link to one file of a sandbox that runs; it is looked at again when the link is used. */
export function makeLink(
  services: Services,
  { row, tokenId }: { row: SandboxUse; tokenId: string },
  method: FileLink['method'],
  { sandbox_id, path, expires_in }: { sandbox_id: string; path: string; expires_in: number },
) {
  demandSandboxes(services)
  const state = shownState(row)
  if (state !== 'running') throw new OperationError('sandbox_not_running', ...stateRefusal(sandbox_id, state))
  const expiresAt = new Date(services.clock.now().getTime() + expires_in * 1000)
  return {
    url: linkUrl(services, { method, sandboxId: sandbox_id, path, expiresAt, tokenId }),
    method,
    expires_at: expiresAt,
  }
}
