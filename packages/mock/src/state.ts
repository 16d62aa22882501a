import { type IdKind, makeId } from '@coinrack/contract/ids.ts'
import type { Operations } from '@coinrack/contract/index.ts'
import type { Output } from '@coinrack/contract/operation.ts'
import { burnPerHour } from './burn.ts'
import type { Program } from './programs.ts'
import { Refusal } from './refusal.ts'
import type { Watcher } from './watch.ts'

/** One item of a list. */
type Item<N extends keyof Operations> =
  Output<Operations[N]> extends { items: (infer T)[] } ? T : Output<Operations[N]>

export type Invoice = Item<'getInvoice'>
export type Order = Item<'getOrder'>
export type VpsView = Item<'listVps'>
export type SandboxView = Item<'getSandbox'>
export type Work = Item<'getOperation'>
export type Line = Item<'listTransactions'>
export type Snapshot = Item<'listSandboxSnapshots'>
export type Port = Item<'listExposedPorts'>
export type Context = Item<'listContexts'>

export interface Account {
  id: string
  email: string
  tokens: Set<string>
  createdAt: Date
  available: bigint
  held: bigint
  /** Newest last. */
  lines: Line[]
}

interface Owned {
  accountId: string
}

export interface MockInvoice extends Owned {
  view: Invoice
}

export interface MockVps extends Owned {
  view: VpsView
  order: Order
  /** When the step that it is in is done, on the mock's clock. */
  readyAt: number
  /** The step has failed: it will never be ready. */
  failure: string | undefined
  password: string | undefined
  work: Work | undefined
  files: Map<string, Uint8Array>
}

export interface MockTask {
  id: string
  title: string
  startedAt: Date
  program: Program
  stdout: string
  stderr: string
  end: { exit_code: number | null; signal: string | null } | undefined
  /** Told when it writes or ends. */
  wake: Set<() => void>
}

export interface MockSandbox extends Owned {
  view: SandboxView
  /** Since when it runs, in milliseconds of the clock; undefined while it does not. */
  runsSince: number | undefined
  ranMs: number
  /** When it ends by itself, and when for want of use. */
  endsAt: number
  idleAt: number
  held: bigint
  charged: bigint
  files: Map<string, Uint8Array>
  /** Folders that were made, by their paths; those of files are there as well. */
  folders: Set<string>
  contexts: Map<string, Context>
  watchers: Set<Watcher>
  tasks: Map<string, MockTask>
  ports: Map<number, Port>
}

/** What of a sandbox its copies have. */
export type Inside = Pick<MockSandbox, 'files' | 'folders' | 'contexts'>

export interface MockSnapshot extends Owned {
  view: Snapshot
  inside: Inside
}

/** What the mock knows: all of it in memory, and time that passes only when it is told to. */
export class State {
  readonly url: string
  readonly accounts = new Map<string, Account>()
  readonly invoices = new Map<string, MockInvoice>()
  readonly orders = new Map<string, Owned & { view: Order }>()
  readonly vps = new Map<string, MockVps>()
  readonly works = new Map<string, Owned & { view: Work }>()
  readonly sandboxes = new Map<string, MockSandbox>()
  readonly snapshots = new Map<string, MockSnapshot>()
  bootSeconds = 5
  /** Why the next machines cannot be made. */
  provisioningFails: string | undefined
  private time: number
  private count = 0

  constructor(url: string, start: Date) {
    this.url = url
    this.time = start.getTime()
  }

  now = (): Date => new Date(this.time)

  pass(milliseconds: number): void {
    this.time += Math.ceil(milliseconds)
  }

  id(kind: IdKind): string {
    this.count++
    const bytes = Uint8Array.from({ length: 10 }, (_, index) => (this.count >> (8 * (9 - index))) & 255)
    return makeId(kind, this.time, bytes)
  }

  account(email: string, token: string): Account {
    const account: Account = {
      ...{ id: this.id('account'), email, tokens: new Set([token]), createdAt: this.now() },
      ...{ available: 0n, held: 0n, lines: [] },
    }
    this.accounts.set(account.id, account)
    return account
  }

  /** Moves money, and writes the line of it. */
  post(account: Account, line: Omit<Line, 'id' | 'balance' | 'created_at'>): void {
    account.available += line.amount
    account.held += line.held_change
    const id = this.id('transaction')
    account.lines.push({ ...line, id, balance: account.available, created_at: this.now() })
  }

  /** @throws Refusal `insufficient_balance` */
  demand(account: Account, required: bigint, usd: (amount: bigint) => string, fields: object = {}): void {
    if (account.available >= required) return
    throw new Refusal(
      'insufficient_balance',
      `The balance is ${usd(account.available)} USD; this needs ${usd(required)} USD`,
      {
        ...{ required: usd(required), balance: usd(account.available), currency: 'USD', owed: '0.00' },
        ...{ shortfall: usd(required - account.available), paid_from_balance: false },
        ...fields,
      },
    )
  }

  /** The balance, and for how long it lasts. */
  runway(account: Account) {
    const burn_per_hour = burnPerHour(this, account.id)
    const hours = burn_per_hour === 0n ? undefined : Number(account.available) / Number(burn_per_hour)
    const runs_out_at = hours === undefined ? null : new Date(this.time + Math.floor(hours * 3_600_000))
    return { balance: account.available, burn_per_hour, runs_out_at }
  }
}

/** The thing of an account, by its id. @throws Refusal `not_found`, `not_owner` */
export function owned<T extends Owned>(
  things: Map<string, T>,
  id: string,
  accountId: string,
  kind: string,
): T {
  const thing = things.get(id)
  if (!thing) throw new Refusal('not_found', `There is no ${kind} with this id`)
  if (thing.accountId !== accountId) throw new Refusal('not_owner', `This ${kind} belongs to another account`)
  return thing
}
