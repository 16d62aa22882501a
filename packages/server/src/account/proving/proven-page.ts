import type { Html } from '@coinrack/web/html.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Person } from './proof-cookie.ts'

/** A request for a page, whose path names what it is about. */
export type PageRequest = FastifyRequest<{ Params: { id: string } }>

/** What stands above the proof: who asks, and for what. */
export interface Intro {
  heading: string
  why: Html
}

/**
 * A page for a person who has just proven who they are. Until then the page is the proof itself, under the same address:
 * a fresh code from the mailbox, or a signature of the wallet. No bearer token opens it.
 */
export interface ProvenPage {
  /** Below the origin; `:id` is what it is about. */
  url: `/${string}/:id`
  /** @throws PageProblem when there is no such page, or no longer */
  intro(request: PageRequest, reply: FastifyReply): Promise<Intro>
  /**
   * The page itself, whole.
   * @throws PageProblem when it is not for this person
   */
  show(request: PageRequest, reply: FastifyReply, person: Person): Promise<string>
  /**
   * What the person sends from it. The answer is a page too, whole; the proof is used up by it.
   * @throws PageProblem
   */
  act(request: PageRequest, reply: FastifyReply, person: Person, form: URLSearchParams): Promise<string>
}

/** A page that says what went wrong, and what to do. */
export class PageProblem extends Error {
  readonly status: number
  readonly heading: string

  constructor(status: number, heading: string, text: string) {
    super(text)
    this.status = status
    this.heading = heading
  }
}
