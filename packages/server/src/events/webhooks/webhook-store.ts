import type { Queryable, Transaction } from '../../database/transaction.ts'

export interface WebhookRow {
  id: string
  account_id: string
  url: string
  types: string[] | null
  secret: Buffer
  created_at: Date
  disabled_at: Date | null
}

export interface DeliveryRow {
  id: string
  event_id: string
  type: string
  status: 'pending' | 'delivered' | 'dead'
  attempts: number
  next_at: Date
  last_status: number | null
  last_error: string | null
  created_at: Date
}

/** Newest first. */
export async function webhooksOf(db: Queryable, accountId: string): Promise<WebhookRow[]> {
  const { rows } = await db.query<WebhookRow>(
    `select id, account_id, url, types, secret, created_at, disabled_at from webhook
     where account_id = $1 and deleted_at is null order by id desc`,
    [accountId],
  )
  return rows
}

export async function insertWebhook(tx: Transaction, row: Omit<WebhookRow, 'disabled_at'>): Promise<void> {
  await tx.query(
    'insert into webhook (id, account_id, url, types, secret, created_at) values ($1, $2, $3, $4, $5, $6)',
    [row.id, row.account_id, row.url, row.types, row.secret, row.created_at],
  )
}

/** Deletes a webhook and what waits to be sent to it. */
export async function deleteWebhookRow(tx: Transaction, id: string, at: Date): Promise<void> {
  await tx.query('update webhook set deleted_at = $2 where id = $1 and deleted_at is null', [id, at])
  await tx.query(`delete from webhook_delivery where webhook_id = $1 and status = 'pending'`, [id])
}

/** Forgets webhooks that were deleted before a moment, with what was delivered to them. */
export async function forgetDeletedWebhooks(db: Queryable, before: Date): Promise<void> {
  await db.query(
    `with gone as (select id from webhook where deleted_at < $1),
       deliveries as (delete from webhook_delivery using gone where webhook_id = gone.id)
     delete from webhook using gone where webhook.id = gone.id`,
    [before],
  )
}

/** Newest first, those before the `before` id. */
export async function deliveriesOf(
  db: Queryable,
  webhookId: string,
  page: { limit: number; before?: string; status?: string },
): Promise<DeliveryRow[]> {
  const { rows } = await db.query<DeliveryRow>(
    `select d.id, event_id, type, status, attempts, next_at, last_status, last_error, d.created_at
     from webhook_delivery d join event on event.id = event_id
     where webhook_id = $1 and ($2::text is null or d.id < $2) and ($3::text is null or status = $3)
     order by d.id desc limit $4`,
    [webhookId, page.before ?? null, page.status ?? null, page.limit],
  )
  return rows
}

/**
 * Deliveries that were given up begin their attempts again.
 * @returns how many
 */
export async function replayDeliveries(
  tx: Transaction,
  webhookId: string,
  deliveryId: string | undefined,
  at: Date,
): Promise<number> {
  await tx.query('update webhook set disabled_at = null where id = $1', [webhookId])
  const { rowCount } = await tx.query(
    `update webhook_delivery set status = 'pending', attempts = 0, next_at = $3, leased = false
     where webhook_id = $1 and case when $2::text is null then status = 'dead' else id = $2 end`,
    [webhookId, deliveryId ?? null, at],
  )
  return rowCount ?? 0
}

/** Which webhook wants which of the events. */
export async function wantedDeliveries(
  tx: Transaction,
  eventIds: string[],
): Promise<{ webhook_id: string; event_id: string }[]> {
  const { rows } = await tx.query<{ webhook_id: string; event_id: string }>(
    `select webhook.id as webhook_id, event.id as event_id
     from event join webhook on webhook.account_id = event.account_id
     where event.id = any($1) and webhook.deleted_at is null and webhook.disabled_at is null
       and case when event.type = 'webhook.test' then event.data ->> 'webhook_id' = webhook.id
         else webhook.types is null or event.type = any(webhook.types) end
     order by event.position, webhook.id`,
    [eventIds],
  )
  return rows
}

export async function insertDeliveries(
  tx: Transaction,
  rows: { id: string; webhook_id: string; event_id: string }[],
  at: Date,
): Promise<void> {
  await tx.query(
    `insert into webhook_delivery (id, webhook_id, event_id, next_at, created_at)
     select id, webhook_id, event_id, $4, $4 from unnest($1::text[], $2::text[], $3::text[]) as r (id, webhook_id, event_id)
     on conflict (webhook_id, event_id) do nothing`,
    [rows.map(({ id }) => id), rows.map((row) => row.webhook_id), rows.map((row) => row.event_id), at],
  )
}

export interface ClaimedDelivery {
  id: string
  attempts: number
  url: string
  webhook_id: string
  secret: Buffer
  event_id: string
  position: bigint
  type: string
  data: Record<string, unknown>
  happened_at: Date
}

/**
 * Claims due deliveries for a time: a process that is killed meanwhile leaves them to be claimed again. Only some of
 * one account are under way at once, so that a receiver that hangs does not hold up the others.
 */
export async function claimDeliveries(
  db: Queryable,
  { now, until, limit, perAccount }: { now: Date; until: Date; limit: number; perAccount: number },
): Promise<ClaimedDelivery[]> {
  const { rows } = await db.query<ClaimedDelivery>(
    `with under_way as (
       select account_id, count(*) as n from webhook_delivery join webhook on webhook.id = webhook_id
       where status = 'pending' and leased and next_at > $1 group by account_id
     ), due as (
       select d.id, d.next_at, coalesce(u.n, 0) + row_number() over (partition by w.account_id order by d.next_at, d.id) as nth
       from webhook_delivery d join webhook w on w.id = d.webhook_id left join under_way u using (account_id)
       where d.status = 'pending' and d.next_at <= $1
     ), taken as (
       select id from webhook_delivery where id in (select id from due where nth <= $4 order by next_at, id limit $3)
         and status = 'pending' and next_at <= $1
       for update skip locked
     )
     update webhook_delivery d set attempts = attempts + 1, next_at = $2, leased = true
     from taken, webhook w, event e
     where d.id = taken.id and w.id = d.webhook_id and e.id = d.event_id
     returning d.id, d.attempts, w.url, w.id as webhook_id, w.secret, e.id as event_id, e.position, e.type, e.data,
       e.created_at as happened_at`,
    [now, until, limit, perAccount],
  )
  return rows
}

/** Writes down how an attempt went, unless it was begun anew meanwhile. */
export async function settleDelivery(
  db: Queryable,
  { id, attempts }: Pick<ClaimedDelivery, 'id' | 'attempts'>,
  outcome: {
    status: 'pending' | 'delivered' | 'dead'
    nextAt: Date
    lastStatus: number | null
    lastError: string | null
    at: Date
  },
): Promise<void> {
  await db.query(
    `update webhook_delivery set status = $3, next_at = $4, leased = false, last_status = $5, last_error = $6,
       delivered_at = case when $3 = 'delivered' then $7::timestamptz end
     where id = $1 and attempts = $2 and status = 'pending'`,
    [id, attempts, outcome.status, outcome.nextAt, outcome.lastStatus, outcome.lastError, outcome.at],
  )
}

export async function disableWebhook(db: Queryable, id: string, at: Date): Promise<void> {
  await db.query('update webhook set disabled_at = $2 where id = $1', [id, at])
}
