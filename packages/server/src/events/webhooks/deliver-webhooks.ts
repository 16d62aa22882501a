import { askPublicHost, PublicHostFailure } from '../../platform/ask-public-host.ts'
import { createTally, type PassReport } from '../../platform/pass-report.ts'
import { addressJudge } from '../../platform/public-address.ts'
import type { Services } from '../../platform/services.ts'
import { retryPause } from './retry-pause.ts'
import { signedHeaders } from './sign.ts'
import { type ClaimedDelivery, claimDeliveries, disableWebhook, settleDelivery } from './webhook-store.ts'

const AT_ONCE = 32
const PER_ACCOUNT = 4
/** Longer than an attempt can take. */
const LEASE_MS = 60_000
const GONE = 410
/** All of an attempt: look-up, connection, and the whole answer. */
const TIMEOUT_MS = 10_000
const MOST_ANSWER_BYTES = 64 * 1024

/** Announced when there is something to send. */
export const DELIVER_WEBHOOKS = 'deliver-webhooks'

export interface WebhookSender {
  /**
   * Begins to send what is due.
   * Idle when nothing is being sent.
   */
  pass(): Promise<PassReport>
  /** Resolves when nothing is being sent any more. */
  idle(): Promise<void>
}

/** Sends events to webhooks, each at least once. Takes no input, and may be killed at any step. */
export function createWebhookSender(
  services: Services,
  { timeoutMs = TIMEOUT_MS }: { timeoutMs?: number } = {},
): WebhookSender {
  const { db, clock, log } = services
  const options = {
    lookup: services.lookup,
    mayReach: addressJudge(services.config.webhookAllowedNetworks),
    timeoutMs,
    mostBytes: MOST_ANSWER_BYTES,
  }
  const busy = new Set<Promise<void>>()
  const tally = createTally()

  return {
    async pass() {
      const now = clock.now()
      const until = new Date(now.getTime() + LEASE_MS)
      const limit = AT_ONCE - busy.size
      const claimed =
        limit > 0 ? await claimDeliveries(db, { now, until, limit, perAccount: PER_ACCOUNT }) : []
      for (const delivery of claimed) {
        const work = deliver(delivery)
          .then((isDelivered) => (isDelivered ? tally.done() : tally.failed()))
          .catch((error) => {
            tally.failed()
            log.error({ err: error, delivery: delivery.id }, 'A webhook could not be sent')
          })
          .finally(() => busy.delete(work))
        busy.add(work)
      }
      return tally.report(claimed.length, busy.size === 0)
    },
    async idle() {
      await Promise.all(busy)
    },
  }

  async function deliver(delivery: ClaimedDelivery): Promise<boolean> {
    const { status, error } = await attempt(delivery)
    const at = clock.now()
    const isDelivered = status !== null && status >= 200 && status < 300
    const pause = status === GONE ? undefined : retryPause(delivery.attempts, services.random)
    if (status === GONE) await disableWebhook(db, delivery.webhook_id, at)
    await settleDelivery(db, delivery, {
      status: isDelivered ? 'delivered' : pause === undefined ? 'dead' : 'pending',
      nextAt: new Date(at.getTime() + (pause ?? 0)),
      lastStatus: status,
      lastError: isDelivered ? null : (error ?? `The answer was ${status}`),
      at,
    })
    return isDelivered
  }

  async function attempt(delivery: ClaimedDelivery): Promise<{ status: number | null; error?: string }> {
    const body = JSON.stringify({
      type: delivery.type,
      timestamp: delivery.happened_at.toISOString(),
      id: delivery.event_id,
      position: Number(delivery.position),
      data: delivery.data,
    })
    const secret = services.sealer.open(delivery.secret, `webhook:${delivery.webhook_id}`)
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Coinrack-Webhooks',
      ...signedHeaders(secret, delivery.event_id, clock.now(), body),
    }
    try {
      return await askPublicHost(new URL(delivery.url), { method: 'POST', headers, body, ...options })
    } catch (error) {
      if (!(error instanceof PublicHostFailure)) throw error
      return { status: null, error: error.message }
    }
  }
}
