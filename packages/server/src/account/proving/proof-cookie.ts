import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Services } from '../../platform/services.ts'

const NAME = 'coinrack_proof'
/** How long a proof lasts: as long as a code does. */
const LIFETIME_S = 600

/** A person who has just proven that an account is theirs, for one page. */
export interface Person {
  accountId: string
  provenAt: Date
}

type About = Pick<Services, 'config' | 'sealer' | 'clock'>

const contextOf = (path: string) => `proof:${path}`

/**
 * Remembers a proof in the browser, for one page and what lies below it. It is sealed, so nothing of it is stored, and any
 * replica can read it. Sent in no request that another site has caused.
 */
export function keepProof(services: About, reply: FastifyReply, path: string, accountId: string): void {
  const proven = JSON.stringify({ accountId, provenAt: services.clock.now() })
  const value = services.sealer.seal(proven, contextOf(path)).toString('base64url')
  reply.header('set-cookie', cookieOf(services, path, value, LIFETIME_S))
}

/** Forgets a proof: what it was for is done. */
export function dropProof(services: About, reply: FastifyReply, path: string): void {
  reply.header('set-cookie', cookieOf(services, path, '', 0))
}

/** Who has proven who they are for this page, within the last 10 minutes; undefined when nobody has. */
export function readProof(services: About, request: FastifyRequest, path: string): Person | undefined {
  const value = new RegExp(`(?:^|; *)${NAME}=([\\w-]+)`).exec(request.headers.cookie ?? '')?.[1]
  if (value === undefined) return undefined
  try {
    const { accountId, provenAt } = JSON.parse(
      services.sealer.open(Buffer.from(value, 'base64url'), contextOf(path)),
    )
    const person = { accountId, provenAt: new Date(provenAt) }
    const age = services.clock.now().getTime() - person.provenAt.getTime()
    return age >= 0 && age < LIFETIME_S * 1000 ? person : undefined
  } catch {
    return undefined
  }
}

const cookieOf = ({ config }: About, path: string, value: string, maxAge: number) =>
  `${NAME}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${config.publicUrl.startsWith('https:') ? '; Secure' : ''}`
