import {
  SandboxError,
  type SandboxErrorCode,
  type SandboxObservation,
  type SandboxRuntime,
  type SandboxSpec,
} from '@coinrack/compute/ports/sandbox-runtime.ts'
import { isId } from '@coinrack/contract/ids.ts'
import { announce } from '../../database/changes.ts'
import { inTransaction } from '../../database/transaction.ts'
import { lockBalance } from '../../ledger/balance.ts'
import { LOCAL_HOST } from '../../platform/machine-host.ts'
import type { Services } from '../../platform/services.ts'
import { bringSnapshot } from '../copies/bring-snapshot.ts'
import { dropCopy, ownCopy } from '../copies/copy-store.ts'
import { believedRunTime, runLimit } from '../meter/run-limit.ts'
import { settleAccounts } from '../meter/settle-accounts.ts'
import { change, failStart, giveUp, seenOn, writeEnd } from './end-sandbox.ts'
import { notifyPaused, notifyStarted } from './notify-sandbox.ts'
import type { Observed } from './observe-hosts.ts'
import { planSandbox, type Step } from './plan-sandbox.ts'
import { networkOf, specOf } from './sandbox-spec.ts'
import { keepPaused, type SandboxRow, sandboxById, updateSandbox } from './sandbox-store.ts'

/** The sandboxes that one host has, by id. */
type OnHost = ReadonlyMap<string, SandboxObservation>

/** After so many failures of one thing it is given up. */
const MOST_ATTEMPTS = 3
/** How long the end of a sandbox waits for another computer. */
const PATIENCE_MS = 5_000

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
 * Takes one step with a sandbox. May be repeated, be done by two at once, and be cut short anywhere: what its host does
 * it does once, and what it costs is settled from what that observed. While its host cannot be reached nothing is done,
 * but that it ends when it is wanted so.
 * @param seen what hosts saw, of which its own is believed alone; that is asked now when left out
 */
export async function stepSandbox(services: Services, id: string, seen?: Observed): Promise<Step> {
  try {
    return await step(services, id, seen)
  } catch (error) {
    // Failures of the sandbox itself were handled on the way: this one is about its host.
    if (!(error instanceof SandboxError)) throw error
    services.log.warn({ err: error, sandbox: id }, 'The host of a sandbox did not do what it was asked')
    return 'nothing'
  }
}

async function step(services: Services, id: string, seen: Observed | undefined): Promise<Step> {
  const row = await sandboxById(services.db, id)
  const runtime = services.sandboxes.get(row.host_id)?.runtime
  if (!runtime) return stepWithoutHost(services, row)
  // Whether a new sandbox exists already makes no difference: it is made once.
  const isNew = row.state === 'starting' && row.wanted !== 'ended'
  const observed = seen?.get(row.host_id) ?? (isNew ? new Map() : await observeFor(row, runtime))
  const there = observed.get(id) ?? (await keptElsewhere(services, row))
  const next = planSandbox(row, there)
  if (next === 'nothing') return next
  services.log.info({ sandbox: id, step: next, state: row.state, wanted: row.wanted }, 'Sandbox')
  await take(services, row, runtime, next, observed)
  await announce(services.db, id)
  return next
}

/** To end a sandbox nobody waits for another computer: what it does not say now is not paid. */
async function observeFor({ wanted, host_id }: SandboxRow, runtime: SandboxRuntime): Promise<OnHost> {
  if (wanted !== 'ended' || host_id === LOCAL_HOST) return runtime.observe()
  return inTime(runtime.observe(), new Map())
}

/** One that was moved while it was paused is not there, but all that it goes on from is. */
const keptElsewhere = async ({ db }: Services, row: SandboxRow): Promise<SandboxObservation | undefined> =>
  row.state === 'paused' && (await ownCopy(db, row)) ? { state: 'paused', ranMs: 0 } : undefined

/** Takes the steps that need no host. The host destroys the remains of the sandbox when it is back. */
async function stepWithoutHost(services: Services, row: SandboxRow): Promise<Step> {
  if (row.wanted !== 'ended' || row.gone_at || row.host_id === LOCAL_HOST) return 'nothing'
  await writeEnd(services, row, new Map())
  await announce(services.db, row.id)
  return 'end'
}

async function take(
  services: Services,
  row: SandboxRow,
  runtime: SandboxRuntime,
  step: Step,
  seen: OnHost,
): Promise<void> {
  switch (step) {
    case 'make':
      return make(services, row, runtime)
    case 'end':
      return end(services, row, runtime, seen)
    case 'lose': {
      // It may have been made after this was seen, and before it was read.
      const fresh = await runtime.observe()
      const there = fresh.get(row.id) ?? (await keptElsewhere(services, row))
      if (planSandbox(row, there) !== 'lose') return
      const lost = await updateSandbox(services.db, row.id, { wanted: 'ended', reason: 'crashed' })
      return end(services, lost, runtime, fresh)
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
        const copy = seen.has(row.id) ? undefined : await ownCopy(services.db, row)
        if (copy) await runtime.ensure({ ...specOf(services, row), template: copy.snapshot_id })
        else await runtime.resume(row.id)
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
    const parentCopy =
      row.parent_id === null ? undefined : await ownCopy(services.db, { ...row, id: row.parent_id })
    if (isId('snapshot', row.template)) await bringSnapshot(services, row.template, row.host_id)
    if (parentCopy) await runtime.ensure({ ...spec, template: parentCopy.snapshot_id })
    else await (row.parent_id === null ? runtime.ensure(spec) : runtime.fork(row.parent_id, spec))
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code === 'host_unreachable') throw error
    services.log.warn({ err: error, sandbox: row.id }, 'A sandbox could not be made')
    const attempts = row.attempts + 1
    const isOver = IS_FINAL.has(error.code) || attempts >= MOST_ATTEMPTS
    if (!isOver) return void (await updateSandbox(services.db, row.id, { attempts }))
    return failStart(services, row, WHY[error.code] ?? 'The sandbox did not start')
  }
  await record(services, row, runtime, 'sandbox.started')
  keepWarm(services, row, runtime)
}

/** The next sandbox of a customer's template begins faster than this one. Nothing waits for it. */
function keepWarm({ log }: Services, { id, template, template_name }: SandboxRow, runtime: SandboxRuntime) {
  if (template_name === null || !isId('snapshot', template)) return
  runtime
    .keepWarm(template)
    .catch((error) => log.warn({ err: error, sandbox: id }, 'A template is not kept warm'))
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
    await dropCopy(tx, row.id)
    if (now.state !== 'running') await notifyStarted(tx, services, changed, event)
  })
}

/**
 * Charges what it ran, removes all that is left of it, and charges what it ran until then. Another computer than this one is
 * not believed about the time after the end: what it does not destroy is charged no longer, and destroyed as a stray.
 */
async function end(
  services: Services,
  row: SandboxRow,
  runtime: SandboxRuntime,
  seen: OnHost,
): Promise<void> {
  if (row.host_id !== LOCAL_HOST) {
    await writeEnd(services, row, seen)
    return void (await inTime(runtime.destroy(row.id), undefined))
  }
  // Written down first: once it is gone its run time cannot be known.
  if (row.state === 'running')
    await inTransaction(services.db, (tx) =>
      settleAccounts(tx, services, [row.account_id], seenOn(row, seen)),
    )
  const { ranMs } = await runtime.destroy(row.id)
  const last = new Map<string, { ranMs: number }>(seen)
  if (ranMs !== undefined) last.set(row.id, { ranMs })
  await writeEnd(services, row, last)
}

/** The answer of a host, or the other value when the host fails or takes too long. */
async function inTime<T, O>(answer: Promise<T>, otherwise: O): Promise<T | O> {
  const late = Promise.withResolvers<O>()
  const timer = setTimeout(() => late.resolve(otherwise), PATIENCE_MS)
  return Promise.race([answer.catch(() => otherwise), late.promise]).finally(() => clearTimeout(timer))
}

/** Tries what leaves the sandbox as it was when it fails; given up, it is no longer wanted, and its owner is told why. */
async function tryTo(services: Services, row: SandboxRow, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code === 'host_unreachable') throw error
    services.log.warn({ err: error, sandbox: row.id, wanted: row.wanted }, 'A sandbox could not be changed')
    const attempts = row.attempts + 1
    if (!IS_FINAL.has(error.code) && attempts < MOST_ATTEMPTS)
      return void (await updateSandbox(services.db, row.id, { attempts }))
    const failure = WHY[error.code] ?? 'It did not answer'
    await giveUp(services, row, failure)
  }
}
