import type { Scope, TokenKind } from '@coinrack/contract/operation.ts'
import type { Token } from '@coinrack/contract/tokens.ts'
import type { z } from 'zod'
import type { Queryable, Transaction } from '../database/transaction.ts'
import { dayOf } from '../ledger/budget.ts'
import { sha256 } from '../platform/sealer.ts'

/** micro-USD and counts; null is no cap. */
export interface BudgetRow {
  max_per_charge: bigint | null
  per_day: bigint | null
  total: bigint | null
  max_live_vps: bigint | null
  max_live_sandboxes: bigint | null
  allow_auto_renew: boolean
  /** Above these a person has to approve. */
  approve_per_call: bigint | null
  approve_per_day: bigint | null
}

export interface TokenRow extends BudgetRow {
  id: string
  account_id: string
  name: string | null
  kind: TokenKind
  parent_id: string | null
  lineage: string[]
  scopes: Scope[]
  authenticated_at: Date
  created_at: Date
  expires_at: Date
  revoked_at: Date | null
  has_budget: boolean
  spent: bigint
  spent_today: bigint
  unapproved_today: bigint
  /** Below the umbrella of an account whose mailbox was proven later. */
  unconfirmed: boolean
}

const TOKENS = `
select token.id, token.account_id, token.name, token.kind, token.parent_id, token.lineage, token.scopes, token.authenticated_at,
  token.created_at, token.expires_at, token.revoked_at, max_per_charge, per_day,
  budget.total, max_live_vps, max_live_sandboxes, allow_auto_renew, approve_per_call, approve_per_day,
  budget.token_id is not null as has_budget, coalesce(spending.total, 0)::bigint as spent,
  coalesce(case when spending.day = $2 then spending.today end, 0)::bigint as spent_today,
  coalesce(case when spending.unapproved_day = $2 then spending.unapproved end, 0)::bigint as unapproved_today,
  exists (select from token top where top.id = token.lineage[1] and top.is_umbrella) as unconfirmed
from token
left join token parent on parent.id = token.parent_id
left join token_budget budget on budget.token_id = case when parent.is_umbrella then parent.id else token.id end
left join token_spending spending on spending.token_id = token.id`

/** One token changes at a time, so that none is made below one that is just being revoked. */
export async function lockTokens(tx: Transaction, accountId: string): Promise<void> {
  await tx.query('select from account where id = $1 for no key update', [accountId])
}

export async function tokenById(db: Queryable, id: string, now: Date): Promise<TokenRow> {
  const { rows } = await db.query<TokenRow>(`${TOKENS} where token.id = $1`, [id, dayOf(now)])
  return rows[0]!
}

/**
 * Newest first, one more than `limit` when there are more.
 * @param wanted `below`: this token and all below it; without it every token of the account
 */
export async function tokensOf(
  db: Queryable,
  accountId: string,
  wanted: { below: string | undefined; ended: boolean; limit: number; cursor: string | undefined; now: Date },
): Promise<TokenRow[]> {
  const { rows } = await db.query<TokenRow>(
    `${TOKENS}
     where token.account_id = $1 and not token.is_umbrella and ($3::text is null or $3 = any(token.lineage))
       and ($4 or (token.revoked_at is null and token.expires_at > $5)) and ($6::text is null or token.id < $6)
     order by token.id desc limit $7`,
    [
      accountId,
      dayOf(wanted.now),
      wanted.below ?? null,
      wanted.ended,
      wanted.now,
      wanted.cursor ?? null,
      wanted.limit + 1,
    ],
  )
  return rows
}

export async function countTokens(db: Queryable, accountId: string, now: Date): Promise<bigint> {
  const { rows } = await db.query<{ count: bigint }>(
    'select count(*) from token where account_id = $1 and revoked_at is null and expires_at > $2',
    [accountId, now],
  )
  return rows[0]!.count
}

/** The tokens that wait for `confirm_token`, each without those below it. */
export async function unconfirmedTokens(db: Queryable, accountId: string, now: Date): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select token.id from token join token parent on parent.id = token.parent_id
     where token.account_id = $1 and parent.is_umbrella and token.revoked_at is null and token.expires_at > $2
     order by token.id`,
    [accountId, now],
  )
  return rows.map(({ id }) => id)
}

export async function insertToken(
  tx: Transaction,
  token: {
    id: string
    accountId: string
    /** Stored as a hash alone. */
    text: string
    scopes: readonly Scope[]
    authenticatedAt: Date
    createdAt: Date
    provenAt?: Date | null
    expiresAt: Date
    name?: string | null
    parent?: Pick<TokenRow, 'id' | 'lineage'>
    isUmbrella?: boolean
    /** `plain` without it. */
    kind?: TokenKind
  },
): Promise<void> {
  await tx.query(
    `insert into token (id, account_id, hash, scopes, authenticated_at, created_at, expires_at, name, parent_id, lineage,
       is_umbrella, proven_at, kind)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      token.id,
      token.accountId,
      sha256(token.text),
      token.scopes,
      token.authenticatedAt,
      token.createdAt,
      token.expiresAt,
      token.name || null,
      token.parent?.id ?? null,
      [...(token.parent?.lineage ?? []), token.id],
      token.isUmbrella ?? false,
      token.provenAt ?? null,
      token.kind ?? 'plain',
    ],
  )
}

/** Takes the place of the budget that a token has; null removes it. */
export async function setBudget(tx: Transaction, tokenId: string, budget: BudgetRow | null): Promise<void> {
  await tx.query('delete from token_budget where token_id = $1', [tokenId])
  if (!budget) return
  await tx.query(
    `insert into token_budget
       (token_id, max_per_charge, per_day, total, max_live_vps, max_live_sandboxes, allow_auto_renew, approve_per_call,
        approve_per_day)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      tokenId,
      budget.max_per_charge,
      budget.per_day,
      budget.total,
      budget.max_live_vps,
      budget.max_live_sandboxes,
      budget.allow_auto_renew,
      budget.approve_per_call,
      budget.approve_per_day,
    ],
  )
}

/** Ends a token and all below it. @returns which ended now */
export async function revokeTree(tx: Transaction, id: string, now: Date): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `update token set revoked_at = $2
     where account_id = (select account_id from token where id = $1) and $1 = any(lineage) and revoked_at is null
     returning id`,
    [id, now],
  )
  return rows.map((row) => row.id).sort()
}

export async function setTokenName(tx: Transaction, id: string, name: string | null): Promise<void> {
  await tx.query('update token set name = $2 where id = $1', [id, name])
}

/** Gives a token a new text; the old one is good until `oldUntil`. */
export async function replaceText(
  tx: Transaction,
  id: string,
  text: string,
  { expiresAt, oldUntil }: { expiresAt: Date; oldUntil: Date },
): Promise<void> {
  await tx.query(
    'insert into retired_token (hash, token_id, good_until) select hash, id, $2 from token where id = $1',
    [id, oldUntil],
  )
  await tx.query('update token set hash = $2, expires_at = $3 where id = $1', [id, sha256(text), expiresAt])
}

/** Puts every token of the account below its umbrella. @returns how many can still be used, without those below them */
export async function enterUmbrella(
  tx: Transaction,
  accountId: string,
  umbrella: string,
  now: Date,
): Promise<number> {
  const { rows } = await tx.query<{ is_top: boolean }>(
    `update token set lineage = array[$2] || lineage, parent_id = coalesce(parent_id, $2)
     where account_id = $1 and id <> $2
     returning parent_id = $2 and revoked_at is null and expires_at > $3 as is_top`,
    [accountId, umbrella, now],
  )
  return rows.filter(({ is_top }) => is_top).length
}

/** Lifts the umbrella from a token that stands directly below it, and from those below that. */
export async function leaveUmbrella(tx: Transaction, token: TokenRow): Promise<void> {
  await tx.query(
    `update token set lineage = lineage[2:], parent_id = case when id = $2 then null else parent_id end
     where account_id = $1 and $2 = any(lineage)`,
    [token.account_id, token.id],
  )
}

/** Texts that no longer count. Takes no input. */
export async function forgetRetiredTokens(db: Queryable, now: Date): Promise<void> {
  await db.query('delete from retired_token where good_until <= $1', [now])
}

/**
 * Forgets tokens that expired or were revoked before a moment. One that has tokens below it goes after them; one whose
 * budget counts for a machine or a sandbox goes after that.
 */
export async function forgetEndedTokens(db: Queryable, before: Date): Promise<void> {
  await db.query(
    `with gone as (
       select id from token
       where least(expires_at, revoked_at) < $1 and not is_umbrella
         and not exists (select from token below where below.parent_id = token.id)
         and not exists (select from vps_order where vps_order.token_id = token.id)
         and not exists (select from vps_billing where renewer_id = token.id)
         and not exists (select from console_link where console_link.token_id = token.id)
         and not exists (select from sandbox where token.id = any(sandbox.counted_for) and sandbox.ended_at is null)
     ),
       budgets as (delete from token_budget using gone where token_id = gone.id),
       texts as (delete from retired_token using gone where token_id = gone.id)
     delete from token using gone where token.id = gone.id`,
    [before],
  )
}

const countOf = (value: bigint | null) => (value === null ? null : Number(value))

/** A token as its owner and those above it see it. */
export const tokenView = (row: TokenRow, now: Date): z.output<typeof Token> => ({
  id: row.id,
  name: row.name,
  kind: row.kind,
  parent_id: row.unconfirmed && row.lineage.length === 2 ? null : row.parent_id,
  status: row.revoked_at ? 'revoked' : row.expires_at <= now ? 'expired' : 'active',
  unconfirmed: row.unconfirmed,
  scopes: row.scopes,
  budget: row.has_budget
    ? {
        max_per_charge: row.max_per_charge,
        per_day: row.per_day,
        total: row.total,
        max_live_vps: countOf(row.max_live_vps),
        max_live_sandboxes: countOf(row.max_live_sandboxes),
        allow_auto_renew: row.allow_auto_renew,
        approve_above:
          row.approve_per_call === null && row.approve_per_day === null
            ? null
            : { per_call: row.approve_per_call, per_day: row.approve_per_day },
      }
    : null,
  spent: { today: row.spent_today, total: row.spent, unapproved_today: row.unapproved_today },
  created_at: row.created_at,
  expires_at: row.expires_at,
})
