import {
  SandboxError,
  type SandboxErrorCode,
  type SandboxObservation,
  type SandboxRuntime,
  type SandboxSpec,
} from '@coinrack/compute/ports/sandbox-runtime.ts'
import { announce } from '../../database/changes.ts'
import { inTransaction, type Transaction } from '../../database/transaction.ts'
import { lockBalance } from '../../ledger/balance.ts'
import type { Services } from '../../platform/services.ts'
import { believedRunTime, runLimit } from '../meter/run-limit.ts'
import { type Seen, settleAccounts } from '../meter/settle-accounts.ts'
import { notifyEnded, notifyPaused, notifyStarted } from './notify-sandbox.ts'
import { sandboxesOf } from './placement.ts'
import { planSandbox, type Step } from './plan-sandbox.ts'
import { networkOf, specOf } from './sandbox-spec.ts'
import { keepPaused, type SandboxRow, sandboxById, updateSandbox } from './sandbox-store.ts'

/** After so many failures of one thing it is given up. */
const MOST_ATTEMPTS = 3

export const DAMAGED = 'What was kept of it cannot be read'
export const NO_NETWORK = 'Sandboxes on this host cannot have that network'

/** The reason that a customer is told: a runtime's own words are about the operator's host. */
const WHY: Partial<Record<SandboxErrorCode, string>> = {
  template_unknown: 'The template is no longer offered',
  template_not_ready: 'The template is still being built',
  snapshot_damaged: 'The snapshot cannot be read',
  state_damaged: DAMAGED,
  spec_invalid: 'This host cannot run such a sandbox',
  unsupported: NO_NETWORK,
  no_space: 'The host had no room for it',
  sandbox_unknown: 'What it was made from is gone',
  sandbox_ended: 'What it was made from is gone',
}
/** The errors that a further attempt will not mend. */
const IS_FINAL: ReadonlySet<SandboxErrorCode> = new Set(Object.keys(WHY) as SandboxErrorCode[])

/**
 * Takes one step with a sandbox. May be repeated, be done by two at once, and be cut short anywhere: what the runtime
 * does it does once, and what it costs is settled from what it observed.
 * @param seen what the runtime saw; looked at now when left out
 */
export async function stepSandbox(
  services: Services,
  id: string,
  seen?: ReadonlyMap<string, SandboxObservation>,
): Promise<Step> {
  const { runtime } = sandboxesOf(services)
  const row = await sandboxById(services.db, id)
  // Whether a new sandbox exists already makes no difference: it is made once.
  const isNew = row.state === 'starting' && row.wanted !== 'ended'
  const observed = seen ?? (isNew ? new Map() : await runtime.observe())
  const step = planSandbox(row, observed.get(id))
  if (step === 'nothing') return step
  services.log.info({ sandbox: id, step, state: row.state, wanted: row.wanted }, 'Sandbox')
  await take(services, row, step, observed)
  await announce(services.db, id)
  return step
}

async function take(services: Services, row: SandboxRow, step: Step, seen: Seen): Promise<void> {
  const { runtime } = sandboxesOf(services)
  switch (step) {
    case 'make':
      return make(services, row, runtime)
    case 'end':
      return end(services, row, seen)
    case 'lose': {
      // It may have been made after this was seen, and before it was read.
      const fresh = await runtime.observe()
      if (planSandbox(row, fresh.get(row.id)) !== 'lose') return
      return end(
        services,
        await updateSandbox(services.db, row.id, { wanted: 'ended', reason: 'crashed' }),
        fresh,
      )
    }
    case 'pause':
      return tryTo(services, row, async () => {
        await runtime.pause(row.id)
        const after = await runtime.observe()
        await change(services, row, after, async (tx, now, at) => {
          if (now.wanted !== 'paused') return
          const changed = await updateSandbox(tx, row.id, { state: 'paused', attempts: 0, failure: null })
          await keepPaused(tx, row.id, at)
          if (now.state !== 'paused') await notifyPaused(tx, services, changed)
        })
      })
    case 'resume':
      return tryTo(services, row, async () => {
        await runtime.resume(row.id)
        await record(services, row, runtime, 'sandbox.resumed')
      })
    case 'apply_network':
      return tryTo(services, row, async () => {
        await runtime.applyNetwork(row.id, networkOf(row.network))
        await updateSandbox(services.db, row.id, {
          done_network: row.wanted_network,
          attempts: 0,
          failure: null,
        })
      })
  }
}

async function make(services: Services, row: SandboxRow, runtime: SandboxRuntime): Promise<void> {
  try {
    const spec: SandboxSpec = specOf(services, row)
    await (row.parent_id === null ? runtime.ensure(spec) : runtime.fork(row.parent_id, spec))
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    services.log.warn({ err: error, sandbox: row.id }, 'A sandbox could not be made')
    const attempts = row.attempts + 1
    const isOver = IS_FINAL.has(error.code) || attempts >= MOST_ATTEMPTS
    if (!isOver) return void (await updateSandbox(services.db, row.id, { attempts }))
    const failure = WHY[error.code] ?? 'The sandbox did not start'
    return change(services, row, new Map(), async (tx, now, at) => {
      if (now.state !== 'starting') return
      const failed = { state: 'failed', wanted: 'ended', reason: 'failed', failure, ended_at: at } as const
      await notifyEnded(tx, services, await updateSandbox(tx, row.id, failed))
    })
  }
  await record(services, row, runtime, 'sandbox.started')
}

/** It runs: its time begins. */
async function record(
  services: Services,
  row: SandboxRow,
  runtime: SandboxRuntime,
  event: 'sandbox.started' | 'sandbox.resumed',
): Promise<void> {
  const seen = await runtime.observe()
  const observation = seen.get(row.id)
  if (observation?.state !== 'running') return
  await inTransaction(services.db, async (tx) => {
    await lockBalance(tx, row.account_id)
    const now = await sandboxById(tx, row.id)
    if (now.state === 'ended' || now.state === 'failed') return
    const at = services.clock.now()
    const changed = await updateSandbox(tx, row.id, {
      state: 'running',
      reason: now.wanted === 'running' ? null : now.reason,
      failure: null,
      attempts: 0,
      done_network: Math.max(now.done_network, event === 'sandbox.started' ? row.wanted_network : 0),
      ran_ms: BigInt(believedRunTime(now, observation.ranMs, at)),
      run_limit_ms: BigInt(runLimit(now, at)),
      seen_at: at,
      ...(now.state !== 'running' && {
        expires_at: new Date(at.getTime() + now.timeout_s * 1000),
        idle_at: now.idle_s > 0 ? new Date(at.getTime() + now.idle_s * 1000) : null,
      }),
    })
    if (now.state !== 'running') await notifyStarted(tx, services, changed, event)
  })
}

/** Charges what it ran, removes all that is left of it, and charges what it ran until then. */
async function end(services: Services, row: SandboxRow, seen: Seen): Promise<void> {
  const { db } = services
  // Written down first: once it is gone its run time cannot be known.
  if (row.state === 'running')
    await inTransaction(db, (tx) => settleAccounts(tx, services, [row.account_id], seen))
  const { ranMs } = await sandboxesOf(services).runtime.destroy(row.id)
  const last = ranMs === undefined ? seen : new Map([...seen, [row.id, { ranMs }]])
  await change(services, row, last, async (tx, now, at) => {
    if (now.state === 'ended' || now.state === 'failed')
      return void (await updateSandbox(tx, row.id, { gone_at: at }))
    const ended = { state: 'ended', wanted: 'ended', ended_at: at, gone_at: at } as const
    const over = await updateSandbox(tx, row.id, {
      ...ended,
      ...(now.wanted !== 'ended' && { reason: row.reason }),
    })
    await notifyEnded(tx, services, over)
  })
}

/** Settles the account, in which this one no longer runs, and changes it, in one transaction. */
async function change(
  services: Services,
  { id, account_id }: SandboxRow,
  seen: Seen,
  write: (tx: Transaction, now: SandboxRow, at: Date) => Promise<void>,
): Promise<void> {
  await inTransaction(services.db, async (tx) => {
    await lockBalance(tx, account_id)
    const now = await sandboxById(tx, id)
    const isOver = now.wanted !== 'running' || now.state === 'starting'
    await settleAccounts(tx, services, [account_id], seen, new Set(isOver ? [id] : []))
    await write(tx, now, services.clock.now())
  })
}

/** Tries what leaves the sandbox as it was when it fails; given up, it is no longer wanted, and its owner is told why. */
async function tryTo(services: Services, row: SandboxRow, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    services.log.warn({ err: error, sandbox: row.id, wanted: row.wanted }, 'A sandbox could not be changed')
    const attempts = row.attempts + 1
    if (!IS_FINAL.has(error.code) && attempts < MOST_ATTEMPTS)
      return void (await updateSandbox(services.db, row.id, { attempts }))
    const failure = WHY[error.code] ?? 'It did not answer'
    await giveUp(services, row, failure)
  }
}

async function giveUp(services: Services, row: SandboxRow, failure: string): Promise<void> {
  // Asked for, it runs on; when its money or time is over, it cannot.
  if (row.state === 'running' && row.wanted === 'paused') {
    const wanted = row.reason === 'asked' ? 'running' : 'ended'
    await updateSandbox(services.db, row.id, { wanted, failure, attempts: 0 })
  } else if (row.state === 'paused') {
    await inTransaction(services.db, async (tx) => {
      await lockBalance(tx, row.account_id)
      await settleAccounts(tx, services, [row.account_id], new Map(), new Set([row.id]))
      await updateSandbox(tx, row.id, { wanted: 'paused', failure, attempts: 0 })
    })
  } else {
    await updateSandbox(services.db, row.id, { done_network: row.wanted_network, failure, attempts: 0 })
  }
}
