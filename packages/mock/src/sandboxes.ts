import { sandboxTariffs, type TariffName } from '@coinrack/contract/sandbox-tariffs.ts'
import { formatUsd } from '@coinrack/contract/wire.ts'
import { HOME } from './files.ts'
import { Refusal } from './refusal.ts'
import type { Account, Inside, MockSandbox, SandboxView, State } from './state.ts'
import { endWatchers } from './watch.ts'

const HOUR_MS = 3_600_000n
const KEPT_MS = 30 * 86_400_000

/** The held minute of a price, in micro-USD. */
const minuteOf = (pricePerHour: bigint) => (pricePerHour + 59n) / 60n

type Wanted = Pick<SandboxView, 'template' | 'mode' | 'timeout' | 'idle_timeout' | 'network' | 'metadata'> & {
  tariff: TariffName
  parent_id?: string
}

/** Makes a sandbox that runs. @throws Refusal `insufficient_balance` */
export function makeSandbox(state: State, account: Account, wanted: Wanted): MockSandbox {
  const { vcpus, memory_mb, disk_gb, price_per_hour } = sandboxTariffs[wanted.tariff]
  state.demand(account, minuteOf(price_per_hour), formatUsd)
  const now = state.now()
  const { parent_id = null, ...rest } = wanted
  const view: SandboxView = {
    ...{ id: state.id('sandbox'), state: 'running', reason: null, failure: null, ...rest },
    ...{ vcpus, memory_mb, disk_gb, price_per_hour, seconds: 0, cost: 0n, expires_at: null },
    ...{ parent_id, created_at: now, ended_at: null },
  }
  const sandbox: MockSandbox = {
    ...{
      accountId: account.id,
      view,
      runsSince: undefined,
      ranMs: 0,
      endsAt: 0,
      idleAt: 0,
      held: 0n,
      charged: 0n,
    },
    ...{ files: new Map(), folders: new Set<string>(), contexts: new Map(languages.map(newContext)) },
    ...{ watchers: new Set<never>(), tasks: new Map(), ports: new Map() },
  }
  state.sandboxes.set(view.id, sandbox)
  run(state, sandbox)
  return sandbox
}

const languages = ['bash', 'node', 'python'] as const
const newContext = (language: (typeof languages)[number]) =>
  [language, { id: language, language, cwd: HOME }] as const

/** What a copy of a sandbox begins with. */
export const copyOf = ({ files, folders, contexts }: Inside): Inside => ({
  files: new Map(files),
  folders: new Set(folders),
  contexts: new Map(contexts),
})

/** Lets it run from now on, with its first minute held. */
export function run(state: State, sandbox: MockSandbox): void {
  const account = state.accounts.get(sandbox.accountId)!
  state.demand(account, minuteOf(sandbox.view.price_per_hour), formatUsd)
  const now = state.now().getTime()
  Object.assign(sandbox, { runsSince: now, held: minuteOf(sandbox.view.price_per_hour) })
  account.available -= sandbox.held
  account.held += sandbox.held
  Object.assign(sandbox.view, { state: 'running', reason: null })
  setEnds(sandbox, now + sandbox.view.timeout * 1000, now)
}

/** Says until when it runs, and notes that it was used. */
export function setEnds(sandbox: MockSandbox, endsAt: number, now: number): void {
  const { view } = sandbox
  sandbox.endsAt = endsAt
  sandbox.idleAt = view.idle_timeout === 0 ? Number.POSITIVE_INFINITY : now + view.idle_timeout * 1000
  view.expires_at = new Date(Math.min(endsAt, sandbox.idleAt))
}

/** Brings what it has cost, and whether it still runs, to this moment. */
export function settleSandbox(state: State, sandbox: MockSandbox): void {
  const { view } = sandbox
  if (sandbox.runsSince === undefined) return
  const end = view.expires_at!.getTime()
  const until = Math.min(state.now().getTime(), end)
  sandbox.ranMs += Math.max(0, until - sandbox.runsSince)
  sandbox.runsSince = until
  const account = state.accounts.get(sandbox.accountId)!
  const due = (view.price_per_hour * BigInt(sandbox.ranMs)) / HOUR_MS
  const affordable = sandbox.charged + sandbox.held + account.available
  const isBroke = due > affordable
  charge(state, sandbox, account, isBroke ? affordable : due)
  Object.assign(view, { seconds: sandbox.ranMs / 1000, cost: sandbox.charged })
  if (isBroke) stop(state, sandbox, 'balance')
  else if (state.now().getTime() >= end) stop(state, sandbox, end === sandbox.idleAt ? 'idle' : 'timeout')
}

/** One line for each sandbox, which grows. */
function charge(state: State, sandbox: MockSandbox, account: Account, due: bigint): void {
  const amount = due - sandbox.charged
  if (amount <= 0n) return
  const fromHeld = amount > account.available ? amount - account.available : 0n
  sandbox.charged = due
  sandbox.held -= fromHeld
  account.held -= fromHeld
  account.available -= amount - fromHeld
  const line = account.lines.find(({ kind, reference }) => kind === 'usage' && reference === sandbox.view.id)
  const description = `Sandbox ${sandbox.view.id} (${sandbox.view.tariff}), ${Math.round(sandbox.ranMs / 1000)} s`
  if (line) Object.assign(line, { description, amount: -due, balance: account.available })
  else
    account.lines.push({
      ...{ id: state.id('transaction'), kind: 'usage', description, amount: -amount, held_change: 0n },
      ...{
        balance: account.available + sandbox.held,
        reference: sandbox.view.id,
        created_at: sandbox.view.created_at,
      },
    })
}

/** Ends what runs by itself: a persistent one pauses. */
function stop(state: State, sandbox: MockSandbox, reason: SandboxView['reason']): void {
  if (sandbox.view.mode === 'persistent') pause(state, sandbox, reason)
  else end(state, sandbox, reason)
}

export function pause(state: State, sandbox: MockSandbox, reason: SandboxView['reason'] = 'asked'): void {
  release(state, sandbox)
  Object.assign(sandbox.view, {
    ...{ state: 'paused', reason, expires_at: new Date(state.now().getTime() + KEPT_MS) },
  })
}

export function end(state: State, sandbox: MockSandbox, reason: SandboxView['reason'] = 'asked'): void {
  release(state, sandbox)
  Object.assign(sandbox.view, { state: 'ended', reason, expires_at: null, ended_at: state.now() })
  sandbox.tasks.clear()
  sandbox.ports.clear()
}

function release(state: State, sandbox: MockSandbox): void {
  endWatchers(sandbox)
  const account = state.accounts.get(sandbox.accountId)!
  account.held -= sandbox.held
  account.available += sandbox.held
  Object.assign(sandbox, { held: 0n, runsSince: undefined })
}

/** @throws Refusal `sandbox_not_running` */
export function demandRunning({ view }: MockSandbox, states: SandboxView['state'][] = ['running']): void {
  if (states.includes(view.state)) return
  const fix =
    view.state === 'paused'
      ? 'Resume it with resume_sandbox, then repeat the call.'
      : 'Make another sandbox with create_sandbox: this one is over.'
  throw new Refusal('sandbox_not_running', `The sandbox is ${view.state}`, { fix })
}
