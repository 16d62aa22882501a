import { expect } from 'vitest'
import { inTransaction } from '../database/transaction.ts'
import type { Reply, TestService } from '../process/testing.ts'
import { decide } from './decide-approval.ts'

/** A month costs 3.00 USD. */
export const NANO = { product: 'nano', os_id: 1 }

export interface Agent {
  token: string
  id: string
}

/** An owner with 1,000 USD, and the agents below. */
export async function ownerOf(service: TestService, balance = 1_000_000_000n) {
  const owner = await service.customer(balance)
  const post = (by: { token: string }, path: string, body: object = {}, key?: string) =>
    service.ask('POST', path, {
      token: by.token,
      body,
      ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
    })
  return {
    ...owner,
    post,
    order: (by: { token: string }, more: object = {}, key?: string) =>
      post(by, '/orders', { ...NANO, ...more }, key),
    /** A token with limits, below the owner's or another one. */
    async agent(
      approve_above: object,
      { by = owner.token, ...budget }: { by?: string } & Record<string, unknown> = {},
    ): Promise<Agent> {
      const { status, body } = await service.ask('POST', '/tokens', {
        token: by,
        body: { name: 'shopper', budget: { ...budget, approve_above } },
      })
      expect(status).toBe(200)
      return { token: body.token, id: body.details.id }
    },
    show: async (id: string, by: { token: string } = owner) =>
      (await service.ask('GET', `/approvals/${id}`, { token: by.token })).body,
    /** What has left the balance, in micro-USD. */
    async charged() {
      const { rows } = await service.services.db.query<{ available: bigint }>(
        'select available from customer_balance where account_id = $1',
        [owner.accountId],
      )
      return balance - BigInt(rows[0]!.available)
    },
  }
}

/** The decision of the owner, without the page. */
export const decideOn = (service: TestService, id: string, status: 'approved' | 'denied') =>
  inTransaction(service.services.db, (tx) =>
    decide(tx, service.services, id, { status, provenAt: service.clock.now() }),
  )

/** The approval that a refused call waits for. */
export function refused(reply: Reply): string {
  expect([reply.status, reply.body.code]).toEqual([403, 'approval_needed'])
  return reply.body.approval_id
}
