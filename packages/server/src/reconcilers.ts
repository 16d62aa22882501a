import { forgetOldFailures } from './account/failed-login-store.ts'
import { forgetOldCodes } from './account/login-code-store.ts'
import { forgetRetiredTokens } from './account/token-store.ts'
import { repeat } from './background.ts'
import { forgetOldEvents } from './events/event-store.ts'
import { numberEvents } from './events/number-events.ts'
import { createWebhookSender, DELIVER_WEBHOOKS } from './events/webhooks/deliver-webhooks.ts'
import { forgetOldAnswers } from './idempotency.ts'
import { runPayments } from './payments/run-payments.ts'
import { QUEUED_MAIL, sendQueuedMail } from './queue-mail.ts'
import { NEW_EVENTS } from './record-event.ts'
import type { Services } from './services.ts'
import { billVps } from './vps/billing/bill-vps.ts'
import { forgetOldLinks } from './vps/console/console-links.ts'
import { expireOrders } from './vps/expire-orders.ts'
import { createSampler } from './vps/meter/sample-machines.ts'
import { createRdnsReconciler, RECONCILE_RDNS } from './vps/rdns/reconcile-rdns.ts'
import { createVpsReconciler, RECONCILE_VPS } from './vps/reconcile-vps.ts'
import { createSnapshotReconciler } from './vps/snapshot/reconcile-snapshots.ts'
import { RECONCILE_SNAPSHOTS } from './vps/snapshot/want-snapshot.ts'

const VPS_MS = 500
const SNAPSHOTS_MS = 2_000
const RDNS_MS = 5_000
/** A step is sampled soon after it begins. */
const METER_MS = 1_000
const PERIODS_MS = 10_000
const EVENTS_MS = 1_000
const WEBHOOKS_MS = 1_000
const MAIL_MS = 5_000
const TIDY_MS = 600_000

/**
 * Runs all that makes what is wanted so. Each reconciler takes no input and may be killed at any step.
 * @returns what ends them, after the steps they are at
 */
export function runReconcilers(services: Services): () => Promise<void> {
  const end = new AbortController()
  const complain = (what: string) => (error: Error) => services.log.error({ err: error }, `${what} failed`)
  const vps = createVpsReconciler(services)
  const snapshots = createSnapshotReconciler(services)
  const rdns = createRdnsReconciler(services)
  const webhooks = createWebhookSender(services)
  const endPayments = runPayments(services)
  const loops = [
    repeat(
      end.signal,
      VPS_MS,
      vps.pass,
      complain('A pass over the VPS'),
      wokenBy(services, end.signal, RECONCILE_VPS),
    ),
    repeat(
      end.signal,
      SNAPSHOTS_MS,
      snapshots.pass,
      complain('A pass over the snapshots'),
      wokenBy(services, end.signal, RECONCILE_SNAPSHOTS),
    ),
    repeat(
      end.signal,
      EVENTS_MS,
      () => numberEvents(services),
      complain('Numbering events'),
      wokenBy(services, end.signal, NEW_EVENTS),
    ),
    repeat(
      end.signal,
      WEBHOOKS_MS,
      webhooks.pass,
      complain('Sending to webhooks'),
      wokenBy(services, end.signal, DELIVER_WEBHOOKS),
    ),
    repeat(
      end.signal,
      MAIL_MS,
      () => sendQueuedMail(services),
      complain('Sending mail'),
      wokenBy(services, end.signal, QUEUED_MAIL),
    ),
    repeat(
      end.signal,
      RDNS_MS,
      rdns.pass,
      complain('A pass over the reverse names'),
      wokenBy(services, end.signal, RECONCILE_RDNS),
    ),
    repeat(end.signal, METER_MS, createSampler(services).pass, complain('Measuring machines')),
    repeat(
      end.signal,
      PERIODS_MS,
      async () => {
        await billVps(services)
        await expireOrders(services)
      },
      complain('Billing'),
    ),
    repeat(
      end.signal,
      TIDY_MS,
      async () => {
        const now = services.clock.now()
        await forgetOldAnswers(services)
        await forgetOldCodes(services.db, now)
        await forgetOldFailures(services.db, now)
        await forgetRetiredTokens(services.db, now)
        await forgetOldLinks(services.db, now)
        await forgetOldEvents(services.db, now, services.config.eventDays)
      },
      complain('Forgetting what is old'),
    ),
  ]
  return async () => {
    end.abort()
    await Promise.all([...loops, endPayments(), vps.idle(), snapshots.idle(), webhooks.idle()])
  }
}

/** Ends the pause of a loop whenever the topic is announced, until the signal. */
const wokenBy = (services: Services, end: AbortSignal, topic: string) => (now: () => void) => {
  const unsubscribe = services.changes.subscribe((changed) => {
    if (changed === topic) now()
  })
  end.addEventListener('abort', unsubscribe)
}
