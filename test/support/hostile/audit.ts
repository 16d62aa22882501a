import { expect } from 'vitest'
import type { ProgramWorld } from '../program-world.ts'

/** What must hold however programs behaved. */
export interface Audit {
  /** @throws when a token of a program counts still, one has spent more than its budget, or anything else was reached */
  expectNoHarm(): Promise<void>
}

/** Rows that programs must not make or change, as one number each. */
const UNTOUCHED = `select
  (select count(*) from account) as accounts,
  (select count(*) from token where kind <> 'program') as tokens,
  (select count(*) from retired_token) as retired,
  (select count(*) from token below join token program on program.id = below.parent_id where program.kind = 'program') as below,
  (select count(*) from webhook) as webhooks,
  (select count(*) from delegation) as delegations,
  (select count(*) from refund) as refunds,
  (select md5(string_agg(token.id || token.hash::text || token.expires_at::text, ',' order by token.id))
     from token where kind <> 'program') as texts,
  (select md5(string_agg(account::text, ',' order by id)) from account) as owners,
  (select md5(string_agg(id || wanted || state || network::text || expires_at::text, ',' order by id))
     from sandbox where account_id = $1) as victims`

const OVER_BUDGET = `select token.id, budget.total as budget, spending.total as spent from token
  join token_budget budget on budget.token_id = token.id
  join token_spending spending on spending.token_id = token.id
  where kind = 'program' and spending.total > budget.total`

/**
 * @param victimId whose sandboxes nobody may touch
 * @param ownerIds whose programs run; they have no machine that is paid for otherwise than by the second
 */
export async function beginAudit(
  world: ProgramWorld,
  { victimId, ownerIds }: { victimId: string; ownerIds: string[] },
): Promise<Audit> {
  const { db } = world.services
  const read = async (text: string, values: unknown[] = []) => (await db.query(text, values)).rows
  const untouched = () => read(UNTOUCHED, [victimId])
  const chargedForSandboxes = () =>
    read('select coalesce(sum(charged), 0)::bigint as charged from sandbox where account_id = any($1)', [
      ownerIds,
    ])
  const earlier = await read('select id from sandbox where account_id = any($1)', [ownerIds])
  const worth = () =>
    read(
      'select coalesce(sum(available + held), 0)::bigint as worth from customer_balance where account_id = any($1)',
      [ownerIds],
    )
  const before = await untouched()
  const [[had], [charged]] = [await worth(), await chargedForSandboxes()]
  const mails = world.mails.length

  return {
    async expectNoHarm() {
      expect(await read(`select id from token where kind = 'program' and revoked_at is null`)).toEqual([])
      expect(
        await read('select id from sandbox where program_token_id is not null and gone_at is null'),
      ).toEqual([])
      expect(await read(OVER_BUDGET)).toEqual([])
      expect(await untouched()).toEqual(before)
      expect(world.mails.length).toBe(mails)
      // What their calls began counts for their budgets.
      const uncounted = await read(
        `select id from sandbox where account_id = any($1) and program_token_id is null and id <> all($2)
         and not exists (select from token where kind = 'program' and token.id = any(counted_for))`,
        [ownerIds, earlier.map(({ id }) => id)],
      )
      expect(uncounted).toEqual([])
      // To the micro-dollar, the owners paid for sandboxes that ran, and for nothing else.
      const [[now], [chargedNow]] = [await worth(), await chargedForSandboxes()]
      expect(had.worth - now.worth).toBe(chargedNow.charged - charged.charged)
    },
  }
}
