import type { Handler } from '../../dispatch/handler.ts'
import { literalAddress } from '../../platform/ask-public-host.ts'
import { addressJudge } from '../../platform/public-address.ts'
import { makeSecret } from './sign.ts'
import { insertWebhook, webhooksOf } from './webhook-store.ts'
import { refuseUrl } from './webhook-url.ts'
import { webhookView } from './webhook-view.ts'

const MOST = 10

export const createWebhook: Handler<'createWebhook'> = async ({ input, caller, db, services, fail }) => {
  const { config, newId, clock, random, sealer } = services
  const why = refuseUrl(input.url, { httpAllowed: config.profile === 'demo' }) ?? judgeLiteral()
  if (why !== undefined) throw fail('webhook_url_refused', `The URL cannot be used: ${why}`)
  // Two at the same moment count one after the other.
  await db.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`webhooks:${caller.accountId}`])
  if ((await webhooksOf(db, caller.accountId)).length >= MOST) {
    throw fail('webhook_limit', `The account has ${MOST} webhooks`)
  }
  const id = newId('webhook')
  const secret = makeSecret(random)
  const row = {
    id,
    account_id: caller.accountId,
    url: input.url,
    types: input.types ?? null,
    secret: sealer.seal(secret, `webhook:${id}`),
    created_at: clock.now(),
  }
  await insertWebhook(db, row)
  return { webhook: webhookView({ ...row, disabled_at: null }), secret }

  /** A name is judged each time that something is sent; an address can be told now. */
  function judgeLiteral(): string | undefined {
    const address = literalAddress(new URL(input.url))
    const isFine = address === undefined || addressJudge(config.webhookAllowedNetworks)(address)
    return isFine ? undefined : 'The URL must point to a public address'
  }
}
