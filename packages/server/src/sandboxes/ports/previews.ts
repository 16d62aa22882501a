import type { ExposedPort } from '@coinrack/contract/sandbox-ports.ts'
import type { z } from 'zod'
import type { SandboxUse } from '../../dispatch/read-models.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { isSame, sign } from '../files/signature.ts'
import { sandboxUse } from '../life/sandbox-store.ts'
import { shownState } from '../life/sandbox-view.ts'
import { type PortRow, reachablePort } from './port-store.ts'

const TOKEN_LENGTH = 32

const tokenOf = (
  services: Pick<Services, 'config'>,
  { sandbox_id, port, nonce }: Pick<PortRow, 'sandbox_id' | 'port' | 'nonce'>,
) =>
  sign(services, 'sandbox previews', [sandbox_id, String(port), nonce.toString('hex')]).slice(0, TOKEN_LENGTH)

/** A port as its owner sees it. */
export function portView(services: Pick<Services, 'config'>, row: PortRow): z.output<typeof ExposedPort> {
  const { publicUrl, sandboxDomain } = services.config
  const { protocol, port } = new URL(publicUrl)
  const pathUrl = `${publicUrl}/preview/${row.sandbox_id}/${row.port}/`
  const host = `${row.port}-${row.sandbox_id}.${sandboxDomain}${port === '' ? '' : `:${port}`}`
  return {
    port: row.port,
    access: row.access,
    url: sandboxDomain === undefined ? pathUrl : `${protocol}//${host}/`,
    path_url: pathUrl,
    token: row.access === 'token' ? tokenOf(services, row) : null,
    created_at: row.created_at,
    blocked: row.blocked,
  }
}

/**
 * The sandbox behind an address of a preview, when the client may use it.
 * @throws OperationError `preview_closed`, `preview_token_missing`, `sandbox_not_running`
 */
export async function openPreview(
  services: Pick<Services, 'config' | 'db'>,
  sandboxId: string,
  port: number,
  token: string | undefined,
): Promise<SandboxUse> {
  const row = await reachablePort(services.db, sandboxId, port)
  if (!row) throw new OperationError('preview_closed', 'No port of a sandbox is exposed at this address')
  if (row.access === 'token' && (token === undefined || !isSame(token, tokenOf(services, row))))
    throw new OperationError('preview_token_missing', 'This port is open only to requests with its token')
  const sandbox = (await sandboxUse(services.db, sandboxId))!
  const state = shownState(sandbox)
  if (state !== 'running') throw new OperationError('sandbox_not_running', `The sandbox is ${state}`)
  return sandbox
}
