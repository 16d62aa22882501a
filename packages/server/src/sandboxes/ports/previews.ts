import type { ExposedPort } from '@coinrack/contract/sandbox-ports.ts'
import type { z } from 'zod'
import type { SandboxUse } from '../../dispatch/read-models.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { sandboxByAccess } from '../e2b/access.ts'
import { isSame, sign } from '../files/signature.ts'
import { sandboxUse } from '../life/sandbox-store.ts'
import { shownState } from '../life/sandbox-view.ts'
import { type PortRow, type ReachablePort, reachablePort } from './port-store.ts'

const TOKEN_LENGTH = 32

/** The token of one port, or of all that have none of their own. */
export const tokenOf = (
  services: Pick<Services, 'config'>,
  { sandbox_id, port, nonce }: Pick<ReachablePort, 'sandbox_id' | 'port' | 'nonce'>,
) =>
  sign(services, 'sandbox previews', [sandbox_id, String(port ?? 'all'), nonce.toString('hex')]).slice(
    0,
    TOKEN_LENGTH,
  )

/** The addresses of a port, or with `{port}` those of any. */
export function addressesOf(
  { config }: Pick<Services, 'config'>,
  sandboxId: string,
  port: number | '{port}',
) {
  const { publicUrl, sandboxDomain } = config
  const { protocol, port: own } = new URL(publicUrl)
  const pathUrl = `${publicUrl}/preview/${sandboxId}/${port}/`
  const host = `${port}-${sandboxId}.${sandboxDomain}${own === '' ? '' : `:${own}`}`
  return { url: sandboxDomain === undefined ? pathUrl : `${protocol}//${host}/`, path_url: pathUrl }
}

/** A port as its owner sees it. */
export function portView(services: Pick<Services, 'config'>, row: PortRow): z.output<typeof ExposedPort> {
  return {
    port: row.port,
    access: row.access,
    ...addressesOf(services, row.sandbox_id, row.port),
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
  services: Pick<Services, 'config' | 'clock' | 'db'>,
  sandboxId: string,
  port: number,
  token: string | undefined,
): Promise<SandboxUse> {
  const row = await reachablePort(services.db, sandboxId, port)
  if (!row) throw new OperationError('preview_closed', 'No port of a sandbox is exposed at this address')
  if (row.access === 'token' && !(await opens(services, row, token)))
    throw new OperationError('preview_token_missing', 'This port is open only to requests with its token')
  const sandbox = (await sandboxUse(services.db, sandboxId))!
  const state = shownState(sandbox)
  if (state !== 'running') throw new OperationError('sandbox_not_running', `The sandbox is ${state}`)
  return sandbox
}

/** Whether a text is the port's token, or one of those that E2B's clients are given for all ports. */
const opens = async (
  services: Pick<Services, 'config' | 'clock' | 'db'>,
  row: ReachablePort,
  token: string | undefined,
): Promise<boolean> =>
  token !== undefined &&
  (isSame(token, tokenOf(services, row)) ||
    (await sandboxByAccess(services, 'traffic', row.sandbox_id, token)) !== undefined)
