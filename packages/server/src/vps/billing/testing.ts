import { expect } from 'vitest'
import { sendQueuedMail } from '../../platform/queue-mail.ts'
import type { TestService } from '../../process/testing.ts'
import { billVps } from './bill-vps.ts'

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

export type Buyer = Awaited<ReturnType<typeof buyerOf>>

/** A customer with a balance of so many micro-dollars, and what tests of billing ask for it. */
export async function buyerOf(service: TestService, balance: bigint) {
  const { token, accountId } = await service.customer(balance)
  const { db } = service.services
  // Tests are longer than the life of a token.
  await db.query(`update token set expires_at = expires_at + interval '20 years' where account_id = $1`, [
    accountId,
  ])
  const { rows } = await db.query<{ email: string }>('select email from account where id = $1', [accountId])
  const { email } = rows[0]!
  const post = (path: string, body: object) => service.ask('POST', path, { token, body })
  return {
    token,
    accountId,
    /** Orders a VPS and waits until it is delivered. */
    async order(body: object = {}): Promise<string> {
      const answer = await post('/orders', { product: 'nano', os_id: 1, hostname: 'web', ...body })
      expect(answer.status).toBe(200)
      await service.reconcile()
      return answer.body.service_id
    },
    post,
    renew: (id: string, body: object = {}) => post(`/services/${id}/renew`, body),
    autoRenew: (id: string, enabled: boolean) =>
      service.ask('PUT', `/services/${id}/auto-renew`, { token, body: { enabled } }),
    power: (id: string, action: string) => post(`/services/${id}/power`, { action }),
    cancelNow: (id: string) => post(`/services/${id}/cancel`, { mode: 'immediate', confirm: 'web' }),
    vps: async (id: string) =>
      (await service.ask('GET', `/services/${id}?reveal=false`, { token })).body as {
        status: string
        ssh_ready: boolean
        billing: { paid_until: string; auto_renew: boolean; price: string; delete_at: string | null }
      },
    balance: async () => (await service.ask('GET', '/balance', { token })).body.balance as string,
    credit: (amount: bigint) => service.credit(accountId, amount),
    /** Mail that was written to it, oldest first. */
    async mail() {
      for (let before = -1; before < service.mails.length; ) {
        before = service.mails.length
        await sendQueuedMail(service.services)
      }
      return service.mails.filter(({ to }) => to === email)
    },
    /** Their subjects. */
    async mails(): Promise<string[]> {
      return (await this.mail()).map(({ subject }) => subject)
    },
    /** The events about its paid time and its hosts, oldest first. */
    async events(): Promise<{ type: string; data: Record<string, unknown> }[]> {
      const { rows } = await db.query<{ type: string; data: Record<string, unknown> }>(
        `select type, data from event where account_id = $1 and type = any($2) order by created_at, id`,
        [
          accountId,
          ['vps.renewal_due', 'vps.suspended', 'vps.resumed', 'vps.deleted', 'vps.maintenance', 'vps.lost'],
        ],
      )
      return rows
    },
    /** The renewals that were charged: when, and for which start of a period. */
    async renewals(): Promise<{ at: Date; from: Date; amount: bigint }[]> {
      const { rows } = await db.query<{ created_at: Date; reference: string; available_change: bigint }>(
        `select created_at, reference, available_change from ledger_transaction
         where account_id = $1 and reference like 'period:%' order by position`,
        [accountId],
      )
      return rows.map(({ created_at, reference, available_change }) => ({
        at: created_at,
        from: new Date(reference.split(':').slice(2).join(':')),
        amount: -available_change,
      }))
    },
    /** The periods that are written down as paid: start, end and price. */
    async periods(id: string): Promise<[string, string, bigint][]> {
      const { rows } = await db.query<{ starts_at: Date; ends_at: Date; paid: bigint }>(
        'select starts_at, ends_at, paid from vps_period where vps_id = $1 order by starts_at',
        [id],
      )
      return rows.map(({ starts_at, ends_at, paid }) => [
        starts_at.toISOString(),
        ends_at.toISOString(),
        paid,
      ])
    },
  }
}

/** Moves the clock to a moment, and lets billing and machines catch up with it. */
export async function goTo(service: TestService, at: Date): Promise<void> {
  service.clock.advance(at.getTime() - service.clock.now().getTime())
  await billVps(service.services)
  await service.reconcile()
}

/** Takes what is left out of the way of the next test. */
export async function forgetVps(service: TestService): Promise<void> {
  await service.services.db.query(
    `update vps_machine set status = 'deleted', wanted = 'deleted', machine_gone_at = $1 where status <> 'deleted'`,
    [service.clock.now()],
  )
}
