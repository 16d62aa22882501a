import { forgetOldFailures } from '../account/failed-login-store.ts'
import { forgetOldClients } from '../account/known-client-store.ts'
import { forgetOldCodes } from '../account/login-code-store.ts'
import { forgetOldStates } from '../account/oauth/state-store.ts'
import { forgetEndedTokens, forgetRetiredTokens } from '../account/token-store.ts'
import { collectDebts } from '../balance/collect-debts.ts'
import { notifyLowBalances } from '../balance/notify-low-balances.ts'
import { endExpiredDelegations } from '../delegations/end-expired.ts'
import { forgetOldAnswers } from '../dispatch/idempotency.ts'
import { forgetFullBuckets } from '../dispatch/rate-limiter.ts'
import { forgetOldEvents } from '../events/event-store.ts'
import { numberEvents } from '../events/number-events.ts'
import { createWebhookSender, DELIVER_WEBHOOKS } from '../events/webhooks/deliver-webhooks.ts'
import { forgetDeletedWebhooks } from '../events/webhooks/webhook-store.ts'
import { noteWhetherTended } from '../hosts/host-elsewhere.ts'
import { createLeases, underLease } from '../hosts/leases.ts'
import { observeHost } from '../hosts/observe-host.ts'
import { forgetApprovals } from '../ledger/approval-store.ts'
import { forgetUnpaidInvoices } from '../payments/invoice-store.ts'
import { runPayments } from '../payments/run-payments.ts'
import { repeat } from '../platform/background.ts'
import { EVERYTHING } from '../platform/everything.ts'
import { LOCAL_HOST, type MachineHost, type Tended } from '../platform/machine-host.ts'
import { type PassReport, reportedPass } from '../platform/pass-report.ts'
import { QUEUED_MAIL, sendQueuedMail } from '../platform/queue-mail.ts'
import { NEW_EVENTS } from '../platform/record-event.ts'
import type { Services } from '../platform/services.ts'
import { createPausedMover } from '../sandboxes/copies/move-paused.ts'
import { createImageSupply } from '../sandboxes/copies/supply-images.ts'
import { SANDBOX_STARTS } from '../sandboxes/life/hold-first-minute.ts'
import { createSandboxReconciler } from '../sandboxes/life/reconcile-sandboxes.ts'
import { createSandboxMeter } from '../sandboxes/meter/meter-sandboxes.ts'
import { BUILD_BEGINS } from '../sandboxes/templates/begin-build.ts'
import { forgetOldBuilds } from '../sandboxes/templates/build-store.ts'
import { forgetUploads } from '../sandboxes/templates/context-store.ts'
import { createTemplateBuilder } from '../sandboxes/templates/reconcile-builds.ts'
import { billVps } from '../vps/billing/bill-vps.ts'
import { forgetRenewers } from '../vps/billing/billing-store.ts'
import { forgetOldLinks } from '../vps/console/console-links.ts'
import { createVpsReconciler } from '../vps/machine/reconcile-vps.ts'
import { createSampler, type NewestUsage } from '../vps/meter/sample-machines.ts'
import { moveMachines } from '../vps/move/move-machines.ts'
import { createRdnsReconciler } from '../vps/network/rdns/reconcile-rdns.ts'
import { expireOrders } from '../vps/orders/expire-orders.ts'
import { forgetUnpaidOrders } from '../vps/orders/order-store.ts'
import { createSnapshotReconciler } from '../vps/snapshot/reconcile-snapshots.ts'
import { RECONCILE_RDNS, RECONCILE_SNAPSHOTS, RECONCILE_VPS } from '../vps/topics.ts'

/** Several times within a lease. */
const LEASES_MS = 3_000
/** How old what is known of a host may be, about. */
const HOST_MS = 3_000
const VPS_MS = 500
const SNAPSHOTS_MS = 2_000
const RDNS_MS = 5_000
const MOVES_MS = 2_000
/** A step is sampled soon after it begins. */
const METER_MS = 1_000
const SANDBOXES_MS = 500
const COPIES_MS = 10_000
/** How late the end of a customer's money may be noticed. */
const SANDBOX_METER_MS = 250
const PERIODS_MS = 10_000
const EVENTS_MS = 1_000
const WEBHOOKS_MS = 1_000
const MAIL_MS = 5_000
const TIDY_MS = 600_000
/**
 * How soon unannounced work is found while there is nothing else to do: after a process that was killed, or a lost
 * connection for changes.
 */
const IDLE_MS = 5_000

/**
 * Runs what makes the database's wants so: any number of services may do it at the same moment. Each reconciler takes no
 * input and may be killed at any step.
 * @returns what ends them, after the steps they are at
 */
export function runReconcilers(services: Services): () => Promise<void> {
  const webhooks = createWebhookSender(services)
  const endPayments = runPayments(services)
  const end = run(services, [
    {
      what: 'Numbering events',
      everyMs: EVENTS_MS,
      idleMs: IDLE_MS,
      pass: () => numberEvents(services),
      topic: NEW_EVENTS,
    },
    {
      what: 'Sending to webhooks',
      everyMs: WEBHOOKS_MS,
      idleMs: IDLE_MS,
      pass: webhooks.pass,
      topic: DELIVER_WEBHOOKS,
    },
    { what: 'Sending mail', everyMs: MAIL_MS, pass: () => sendQueuedMail(services), topic: QUEUED_MAIL },
    {
      what: 'Billing',
      everyMs: PERIODS_MS,
      pass: async () => {
        await collectDebts(services)
        const report = await billVps(services)
        await expireOrders(services)
        await notifyLowBalances(services)
        await endExpiredDelegations(services)
        return report
      },
    },
    {
      what: 'Moving machines between hosts',
      everyMs: MOVES_MS,
      idleMs: IDLE_MS,
      pass: () => moveMachines(services),
      topic: RECONCILE_VPS,
    },
    { what: 'Forgetting what is old', everyMs: TIDY_MS, pass: () => forgetWhatIsOld(services) },
  ])
  return async () => {
    await Promise.all([end(), endPayments()])
    await webhooks.idle()
  }
}

/**
 * Runs what makes the machines of the data folder what they are wanted to be, names of their addresses included, and
 * watches them: one service at a time.
 * @returns what ends it, after the steps it is at
 */
export function tendMachines(services: Services): () => Promise<void> {
  const hosts = [...services.hosts.values()].filter(({ isRemote }) => !isRemote)
  const tended = hosts.map(({ id }) => id)
  const vps = tendVps(services, hosts, () => tended)
  const sandboxes = services.config.sandboxes ? createSandboxReconciler(services) : undefined
  const templates = services.config.sandboxes ? createTemplateBuilder(services) : undefined
  const end = run(services, [
    ...vps.loops,
    {
      what: 'Publishing reverse names',
      everyMs: RDNS_MS,
      pass: createRdnsReconciler(services).pass,
      topic: RECONCILE_RDNS,
    },
    ...(sandboxes && templates
      ? [
          {
            what: 'Tending the sandboxes',
            everyMs: SANDBOXES_MS,
            idleMs: IDLE_MS,
            pass: sandboxes.pass,
            topic: SANDBOX_STARTS,
          },
          {
            what: 'Metering sandboxes',
            everyMs: SANDBOX_METER_MS,
            idleMs: IDLE_MS,
            pass: createSandboxMeter(services).pass,
            topic: SANDBOX_STARTS,
          },
          {
            what: 'Building templates',
            everyMs: SANDBOXES_MS,
            idleMs: IDLE_MS,
            pass: templates.pass,
            topic: BUILD_BEGINS,
          },
          {
            what: 'Giving images to sandbox hosts',
            everyMs: COPIES_MS,
            pass: createImageSupply(services).pass,
          },
          {
            what: 'Copying paused sandboxes',
            everyMs: COPIES_MS,
            pass: createPausedMover(services).pass,
          },
        ]
      : []),
  ])
  return async () => {
    await end()
    await Promise.all([vps.end(), sandboxes?.idle(), templates?.end()])
  }
}

/**
 * Runs what makes the machines of remote hosts what they are wanted to be: on each host one process at a time, the one that has its lease.
 * @returns what ends it, after the steps it is at, and gives the leases back
 */
export function tendRemoteHosts(
  services: Services,
  { leaseMs }: { leaseMs?: number } = {},
): () => Promise<void> {
  const remote = [...services.hosts.values()].filter(({ isRemote }) => isRemote)
  if (remote.length === 0) return async () => {}
  const holder = Buffer.from(services.random.bytes(8)).toString('hex')
  const leases = createLeases(services, { hosts: remote.map(({ id }) => id), holder, leaseMs })
  const hosts = remote.map((host) => underLease(host, leases.held))
  const underLeases = { ...services, hosts: new Map(hosts.map((host) => [host.id, host])) }
  const vps = tendVps(underLeases, hosts, leases.held, ' of remote hosts')
  const end = run(services, vps.loops)
  const endLeases = run(services, [
    { what: 'Keeping the leases of hosts', everyMs: LEASES_MS, pass: leases.renew },
  ])
  return async () => {
    await end()
    await vps.end()
    await endLeases()
    await leases.release()
  }
}

/**
 * Looks whether any service tends the machines of the data folder, for those that do not have it: while none does, nothing
 * is placed there.
 * @returns what ends it
 */
export function watchLocalHost(services: Services): () => Promise<void> {
  return run(services, [
    {
      what: 'Looking who tends the machines',
      everyMs: HOST_MS,
      pass: () => noteWhetherTended(services, services.hosts.get(LOCAL_HOST)!),
    },
  ])
}

/**
 * The loops for the VPS on some hosts.
 * @param of added to the names of the loops
 */
function tendVps(
  services: Services,
  hosts: MachineHost[],
  tended: Tended,
  of = '',
): { loops: Loop[]; end(): Promise<void> } {
  const newest: NewestUsage = new Map()
  const vps = createVpsReconciler(services, { newest, tended })
  const snapshots = createSnapshotReconciler(services, tended)
  const sampler = createSampler(services, { newest, tended })
  return {
    loops: [
      // Each on its own: one that is slow to answer makes none of the others old.
      ...hosts.map((host) => ({
        what: `Asking the host ${host.id}`,
        everyMs: HOST_MS,
        pass: async () => (tended().includes(host.id) ? observeHost(services, host) : undefined),
      })),
      {
        what: `Tending the VPS${of}`,
        everyMs: VPS_MS,
        idleMs: IDLE_MS,
        pass: vps.pass,
        topic: RECONCILE_VPS,
      },
      {
        what: `Tending the snapshots${of}`,
        everyMs: SNAPSHOTS_MS,
        idleMs: IDLE_MS,
        pass: snapshots.pass,
        topic: RECONCILE_SNAPSHOTS,
      },
      { what: `Measuring machines${of}`, everyMs: METER_MS, pass: sampler.pass },
    ],
    async end() {
      await Promise.all([vps.end(), snapshots.idle()])
    },
  }
}

interface Loop {
  /** For the operator: what it does. */
  what: string
  everyMs: number
  /** The pause after a pass that found nothing to do and nothing to watch. */
  idleMs?: number
  pass(): Promise<PassReport | undefined>
  /** The topic whose announcement ends the pause. */
  topic?: string
}

/** @returns what ends the loops, after the passes they are at */
function run(services: Services, loops: Loop[]): () => Promise<void> {
  const end = new AbortController()
  const running = loops.map(({ what, everyMs, idleMs, pass, topic }) =>
    repeat(
      end.signal,
      { everyMs, idleMs },
      reportedPass(services, what, pass),
      (error) => services.log.error({ err: error }, `${what} failed`),
      wokenBy(services, end.signal, topic),
    ),
  )
  return async () => {
    end.abort()
    await Promise.all(running)
  }
}

/** How long what ended without an effect is still shown. */
const KEPT_MS = 30 * 86_400_000
/** And how long what nobody can ask for any more. */
const UNUSED_MS = 86_400_000

/** Takes no input; safe to run at any time, also twice at once. One thing that cannot be forgotten holds up no other. */
export async function forgetWhatIsOld(services: Services): Promise<PassReport> {
  const { db, config, log } = services
  const now = services.clock.now()
  const before = new Date(now.getTime() - KEPT_MS)
  const forget: (() => Promise<void>)[] = [
    () => forgetOldAnswers(services),
    () => forgetOldCodes(db, now),
    () => forgetOldFailures(db, now),
    () => forgetOldClients(db, now),
    () => forgetRetiredTokens(db, now),
    () => forgetOldLinks(db, now),
    () => forgetOldEvents(db, now, config.eventDays),
    () => forgetFullBuckets(services),
    () => forgetUnpaidOrders(db, before),
    () => forgetRenewers(db, before),
    () => forgetUnpaidInvoices(db, before),
    () => forgetDeletedWebhooks(db, before),
    () => forgetApprovals(db, before),
    () => forgetOldStates(db, now),
    () => forgetEndedTokens(db, before),
    () => forgetUploads(db, new Date(now.getTime() - UNUSED_MS)),
    () => forgetOldBuilds(db, new Date(now.getTime() - UNUSED_MS)),
  ]
  let failed = 0
  for (const each of forget) {
    await each().catch((error) => {
      failed++
      log.error({ err: error }, 'Forgetting something that is old failed')
    })
  }
  return { seen: forget.length, done: 0, failed }
}

/** Ends the pause of a loop whenever the topic is announced or the database is back, until the signal. */
const wokenBy = (services: Services, end: AbortSignal, topic: string | undefined) => (now: () => void) => {
  const unsubscribe = services.changes.subscribe((changed) => {
    if (changed === topic || changed === EVERYTHING) now()
  })
  end.addEventListener('abort', unsubscribe)
}
