import type { z } from 'zod'
import type { CommonError } from './common-errors.ts'
import type { ErrorCode } from './errors.ts'
import type { NextStep } from './wire.ts'

/** The kinds of operations that a token may be allowed. */
export type Scope = 'read' | 'order' | 'manage' | 'sandbox' | 'billing' | 'account'

/**
 * The kinds of tokens. `plain`: of a login, a registration, a purchase or create_token. `grant`: an application that a
 * person let in by OAuth; its texts are for `/mcp/connect` alone. `program`: for one run of a program.
 */
export const tokenKinds = ['plain', 'grant', 'program'] as const
export type TokenKind = (typeof tokenKinds)[number]

/** Token buckets, see `rates.ts`. */
export type RateClass =
  | 'default'
  | 'orders'
  | 'topups'
  | 'purchases'
  | 'passwordResets'
  | 'reinstalls'
  | 'console'
  | 'sandboxes'
  | 'register'
  | 'applications'
  | 'login'

/** Things in a path that belong to an account; ownership is checked before the input is. */
export type Resource =
  | 'invoice'
  | 'order'
  | 'service'
  | 'operation'
  | 'token'
  | 'ssh_key'
  | 'webhook'
  | 'ticket'
  | 'delegation'
  | 'sandbox'
  | 'snapshot'
  | 'refund'
  | 'approval'
  | 'template'

/**
 * One thing that a caller may ask of the service, as data: no handler, no framework.
 * REST route, OpenAPI operation, MCP tool, SDK method and documentation are projections of it.
 */
export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /**
   * Below the base path. `{id}` is the identifier of `resource`, and `<resource>_id` in the input; any other name in
   * braces is the input of that name.
   */
  path: `/${string}`
  /** The path lies below the origin, in `walletPath`, and not below the base path. */
  atOrigin?: true
  /** Other paths that answer the same. */
  aliases?: readonly `/${string}`[]
  /**
   * It is in the list that a model reads at `/mcp` on every turn, which has room for 26: what the whole life of a VPS and
   * of a sandbox needs.
   */
  everyday?: true
  /** Other names that it has as a tool. */
  tools?: readonly string[]
  /** Inputs of a write that may stand in the query instead of the body. */
  query?: readonly string[]
  /** Inputs that may hold the character NUL: they reach a file or a program as they are, and no database. */
  anyText?: readonly string[]
  /** The largest body that it takes by REST, where that is more than 1 MiB. */
  bodyBytes?: number
  /** A short title. */
  summary: string
  /** Whole sentences, for an agent that knows nothing else; the first begins with what it does. */
  description: string
  /** The scope that a token needs; `any` token will do, or none at all. */
  access: 'public' | 'any' | Scope
  /**
   * The kinds of token that may not call it, whatever their scopes: it would let an application or a program leave the
   * limits that it was given.
   */
  closedTo?: readonly Exclude<TokenKind, 'plain'>[]
  /** As a tool it answers without a token too, saying less. By REST it needs one. */
  openAsTool?: boolean
  rate: RateClass
  /** A write to a machine, not to the database, that may take long: it runs in no transaction. */
  onMachine?: true
  /**
   * Can be paid in the same request, by x402: when its input says `method: "x402"`, or a payment comes with it. Another
   * handler answers then, in no transaction. `always`: it is paid in no other way.
   */
  x402?: true | 'always'
  /** By REST, for who accepts `text/event-stream`, it tells what comes of the work while it goes on. */
  streams?: true
  /** The operation that sells the same to callers without an account. */
  withoutAccount?: 'buyVps' | 'buySandbox'
  resource?: Resource
  /** May be asked for a sandbox that belongs to the program that runs in it. */
  ofProgram?: true
  /** An account that was given rights on the service may ask for it too, beside its owner. Never what costs or reveals. */
  delegable?: true
  /** `read` changes nothing; `spend` moves or reserves money; `destructive` cannot be taken back. */
  effect: 'read' | 'write' | 'spend' | 'destructive'
  /** The same call twice has the effect of one. */
  idempotent: boolean
  input: z.ZodObject
  /** For a list, the schema of one item: an array by REST, `{items, next_cursor}` as a tool. */
  output: z.ZodType
  list: boolean
  /**
   * Its answer is output, for reading: as a tool it is text, pictures and links, and structured content beside them only
   * where the output schema is listed.
   */
  shows?: 'output'
  /** Beyond those that any operation may answer. */
  errors: readonly ErrorCode[]
  /** An input that works, for documentation. */
  example: Record<string, unknown>
  /** Where what a success has made can be read, below the base path, given the answer as it stands on the wire. */
  created?: (answer: Record<string, unknown>) => string | undefined
  /** The calls to make after a success, given the answer as it stands on the wire and the input as it was sent. */
  next?: (answer: Record<string, unknown>, input: Record<string, unknown>) => NextStep[]
}

/** Declares an operation that answers one object. */
export const operation = <const D extends Omit<Operation, 'list'>>(declared: D): D & { list: false } => ({
  ...declared,
  list: false,
})

/** Declares an operation that answers a page of items. */
export const listOperation = <const D extends Omit<Operation, 'list'>>(declared: D): D & { list: true } => ({
  ...declared,
  list: true,
})

export interface Page<T> {
  items: T[]
  /** Opaque; present when there is more. */
  nextCursor?: string
}

export type Input<T extends Operation> = z.output<T['input']>
export type Output<T extends Operation> = T['list'] extends true
  ? Page<z.output<T['output']>>
  : z.output<T['output']>
export type DeclaredError<T extends Operation> = T['errors'][number] | CommonError

/** `orderVps` is the tool `order_vps`. */
export const toolName = (operationName: string) =>
  operationName.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The inputs that stand in the path, beside the identifier of the resource. */
export const pathInputs = ({ path }: Pick<Operation, 'path'>) =>
  [...path.matchAll(/{(\w+)}/g)].map(([, name]) => name!).filter((name) => name !== 'id')

/** The name that the `{id}` of a path has as an input. */
export const resourceInput = (resource: Resource) => `${resource}_id` as const
