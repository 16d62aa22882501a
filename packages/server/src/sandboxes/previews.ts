import type { ExposedPort } from '@coinrack/contract/sandbox-ports.ts'
import type { z } from 'zod'
import { OperationError } from '../errors.ts'
import type { ResourceRows } from '../resources.ts'
import type { Services } from '../services.ts'
import type { PortRow } from './port-store.ts'
import { shownState } from './sandbox-view.ts'
import { isSame, sign } from './signature.ts'

const TOKEN_LENGTH = 32

const tokenOf = (services: Pick<Services, 'config'>, { sandbox_id, port, nonce }: PortRow) =>
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
  }
}

/**
 * The sandbox behind an address of a preview, when whoever asks may use it.
 * @throws OperationError `preview_closed`, `preview_token_missing`, `sandbox_not_running`
 */
export async function openPreview(
  services: Services,
  sandboxId: string,
  port: number,
  token: string | undefined,
): Promise<ResourceRows['sandbox']> {
  const { rows } = await services.db.query<
    PortRow & Omit<ResourceRows['sandbox'], 'idle_at'> & { idle_at: Date | null }
  >({
    name: 'sandbox_preview',
    text: `select port.*, account_id, state, wanted, idle_s, idle_at
      from sandbox_port port join sandbox on sandbox.id = sandbox_id where sandbox_id = $1 and port = $2`,
    values: [sandboxId, port],
  })
  const found = rows[0]
  if (!found) throw new OperationError('preview_closed', 'No port of a sandbox is exposed at this address')
  if (found.access === 'token' && (token === undefined || !isSame(token, tokenOf(services, found))))
    throw new OperationError('preview_token_missing', 'This port is open for those alone who have its token')
  const state = shownState(found)
  if (state !== 'running') throw new OperationError('sandbox_not_running', `The sandbox is ${state}`)
  return { ...found, idle_at: found.idle_at?.toISOString() ?? null }
}
