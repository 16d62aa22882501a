import type { FastifyRequest } from 'fastify'
import type pg from 'pg'
import type { SandboxUse } from '../../dispatch/read-models.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { nameOf } from '../../transport/preview-address.ts'
import { type AccessKind, type ClientLink, sandboxByAccess, sandboxByLink } from './access.ts'

/** What the inside of sandboxes is served with. */
export interface InsideWorld {
  services: Services
  /** The share of the database in which it is looked up whether links are good. */
  lookups: pg.Pool
  /** Aborted when the service ends. */
  closing: AbortSignal
}

/** A sandbox that a client may use. */
export interface Entered {
  id: string
  row: SandboxUse
}

const ID = /^sbx[0-9a-z]{26}$/

/** The sandbox that a request is for, by the name that it asks for or by its header; undefined when it names none. */
export function sandboxNamed(
  { config }: Pick<Services, 'config'>,
  { headers }: Pick<FastifyRequest, 'headers'>,
): string | undefined {
  const byName = nameOf(config.sandboxDomain, headers.host)
  if (byName) return byName.sandboxId
  const inHeader = headers['e2b-sandbox-id']
  return typeof inHeader === 'string' && ID.test(inHeader) ? inHeader : undefined
}

/**
 * The sandbox that a request is for, when what comes with it lets its sender use that.
 * @throws OperationError `unauthorized`, `invalid_input`
 */
export async function enter(
  { services }: InsideWorld,
  request: FastifyRequest,
  kinds: Partial<Record<AccessKind, true>> = { inside: true },
): Promise<Entered> {
  const id = demandName(services, request)
  const { headers } = request
  const presented = { inside: headers['x-access-token'], traffic: headers['e2b-traffic-access-token'] }
  for (const kind of Object.keys(kinds) as AccessKind[]) {
    const text = presented[kind]
    const row = typeof text === 'string' && (await sandboxByAccess(services, kind, id, text))
    if (row) return { id, row }
  }
  throw new OperationError(
    'unauthorized',
    'The access token is missing, or not (or no longer) one of this sandbox',
  )
}

/** The same by a signed link. @throws OperationError `link_invalid`, `invalid_input` */
export async function enterByLink(
  { services, lookups }: InsideWorld,
  request: FastifyRequest,
  link: ClientLink,
): Promise<Entered> {
  const id = demandName(services, request)
  const row = await sandboxByLink({ ...services, db: lookups }, id, link)
  if (!row) throw new OperationError('link_invalid', 'The link has expired, or is for something else')
  return { id, row }
}

function demandName(services: Services, request: FastifyRequest): string {
  const id = sandboxNamed(services, request)
  if (id !== undefined) return id
  throw new OperationError(
    'invalid_input',
    'The request names no sandbox: it comes to the name of one, or says its id in E2b-Sandbox-Id',
  )
}

/** The user of the sandbox that a client asks for by HTTP Basic, without a password; undefined for its own. */
export function userOf({ headers }: Pick<FastifyRequest, 'headers'>): { user?: string } {
  const encoded = /^Basic +([\w+/=-]+)$/i.exec(headers.authorization ?? '')?.[1]
  const user = encoded && Buffer.from(encoded, 'base64').toString().split(':')[0]
  return user ? { user } : {}
}
