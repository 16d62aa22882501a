import { sendQueuedMail } from '@coinrack/server/platform/queue-mail.ts'
import { startTestService } from '@coinrack/server/process/testing.ts'
import type { Row } from './walk.ts'
import type { Buyer, ErrorWorld, Input } from './world.ts'

/** Orders, machines, and what lies around them. */
export function vpsRows({ service, buyer, during }: ErrorWorld) {
  /** A call that is wrong in one thing, which its steps show. */
  const corrected =
    (tool: string, wrong: Input, right: Input): Row =>
    async () => {
      const who = await buyer()
      return {
        call: () => who.call(tool, wrong),
        take: who.take,
        further: () => who.call(tool, right),
      }
    }
  const onVps =
    (tool: string, wrong: Input, right: Input): Row =>
    async () => {
      const who = await buyer()
      const service_id = await who.vps()
      return {
        call: () => who.call(tool, { service_id, ...wrong }),
        take: who.take,
        further: () => who.call(tool, { service_id, ...right }),
      }
    }
  /** As many as there can be; then one is taken away. */
  const full =
    (
      make: (who: Buyer, index: number) => Promise<{ isError?: boolean; body: { code?: string } }>,
      most: number,
      free: (who: Buyer) => Promise<unknown>,
    ): Row =>
    async () => {
      const who = await buyer()
      for (let index = 0; index < most; index++) await make(who, index)
      return { call: () => make(who, most), take: who.take, meanwhile: () => free(who) }
    }
  const first = async (who: Buyer, list: string, input: Input = {}) =>
    (await who.call(list, input)).body.items[0].id as string

  return {
    insufficient_balance: async () => {
      const who = await buyer(0n)
      return {
        call: () => who.call('order_vps', { product: 'nano', os_id: 1, create_invoice: false }),
        take: who.take,
        fill: { topup_balance: { amount: 5 } },
        meanwhile: () => service.credit(who.accountId, 5_000_000n),
      }
    },
    topup_pending: async () => {
      const who = await buyer(0n)
      await who.call('topup_balance', { amount: 5 })
      return { call: () => who.call('topup_balance', { amount: 6 }), take: who.take }
    },
    topup_by_crypto_only: async () => {
      const who = await buyer()
      const { body } = await who.call('topup_balance', { amount: 5 })
      const invoice_id = body.invoice.id
      return {
        call: () => who.call('pay_invoice', { invoice_id, method: 'balance' }),
        take: who.take,
        further: () => who.call('pay_invoice', { invoice_id }),
      }
    },
    invoice_closed: async () => {
      const who = await buyer()
      const { body } = await who.call('topup_balance', { amount: 5 })
      const invoice_id = body.invoice.id
      await who.call('cancel_invoice', { invoice_id })
      return {
        call: () => who.call('pay_invoice', { invoice_id }),
        take: who.take,
        further: () => who.call('topup_balance', { amount: 5 }),
      }
    },
    unpaid_order_limit: async () => {
      const who = await buyer(0n)
      const order = (index: number) =>
        who.call('order_vps', { product: 'nano', os_id: 1, hostname: `web${index}` })
      for (let index = 0; index < 5; index++) await order(index)
      return {
        call: () => order(6),
        take: who.take,
        fill: { topup_balance: { amount: 5 } },
        meanwhile: () => service.credit(who.accountId, 5_000_000n),
      }
    },
    renewal_limit: async () => {
      const who = await buyer()
      const service_id = await who.vps()
      const renew = (months: number) => who.call('renew_service', { service_id, months })
      return {
        call: () => renew(12).then(() => renew(12)),
        take: who.take,
        further: () => who.call('get_vps_status', { service_id }),
      }
    },
    service_busy: async () => {
      const who = await buyer()
      const service_id = await who.vps()
      await who.take('power_vps', { service_id, action: 'stop' })
      return { call: () => who.call('run_on_vps', { service_id, command: 'true' }), take: who.take }
    },
    too_many_ports: async () => {
      const who = await buyer()
      const service_id = await who.vps()
      const open = (port: number) => who.call('open_port', { service_id, port })
      for (let port = 1; port <= 20; port++) await open(port)
      let public_port = 0
      return {
        call: () => open(21),
        take: async (tool, input) => {
          const answer = await who.take(tool, input)
          public_port = answer.body.items[0].public_port
          return answer
        },
        meanwhile: () => who.call('close_port', { service_id, public_port }),
      }
    },
    guest_unreachable: async () => {
      const who = await buyer()
      const service_id = await who.vps()
      service.guests.silence(service_id, true)
      return {
        call: () => who.call('run_on_vps', { service_id, command: 'true' }),
        take: who.take,
        meanwhile: () => service.guests.silence(service_id, false),
      }
    },
    snapshot_busy: async () => {
      const who = await buyer()
      const service_id = await who.vps()
      await who.call('create_snapshot', { service_id })
      return { call: () => who.call('create_snapshot', { service_id }), take: who.take }
    },
    snapshot_limit: async () => {
      const who = await buyer()
      const service_id = await who.vps()
      for (const _ of [1, 2]) await during(who.call('create_snapshot', { service_id }))
      return {
        call: () => who.call('create_snapshot', { service_id }),
        take: who.take,
        meanwhile: async () =>
          who.take('delete_snapshot', {
            service_id,
            snapshot_id: await first(who, 'list_snapshots', { service_id }),
          }),
      }
    },
    delegation_limit: async () => {
      const who = await buyer()
      const service_id = await who.vps()
      const lend = (index: number) =>
        who.call('delegate_service', { service_id, email: `friend${index}@rackmail.net` })
      let made = 0
      for (let answer = await lend(0); !answer.isError && made < 200; answer = await lend(made)) made++
      return {
        call: () => lend(made),
        take: who.take,
        meanwhile: async () =>
          who.call('revoke_delegation', { delegation_id: await first(who, 'list_delegations') }),
      }
    },
    invalid_invitation: async () => {
      const [owner, friend] = [await buyer(), await buyer()]
      const service_id = await owner.vps()
      return {
        call: () => friend.call('accept_delegation', { token: 'from-the-mail' }),
        take: friend.take,
        further: async () => {
          await owner.call('delegate_service', { service_id, email: friend.email })
          while ((await sendQueuedMail(service.services)).seen > 0);
          const [token] = /^[\w-]{32}$/m.exec(service.mails.findLast(({ to }) => to === friend.email)!.text)!
          return friend.call('accept_delegation', { token })
        },
      }
    },
    ticket_limit: full(
      (who, index) => who.call('create_ticket', { subject: `${index}`, body: 'x' }),
      10,
      async (who) => who.call('close_ticket', { ticket_id: await first(who, 'list_tickets') }),
    ),
    webhook_limit: full(
      (who, index) => who.call('create_webhook', { url: `https://rackmail.net/${index}` }),
      10,
      async (who) => who.call('delete_webhook', { webhook_id: await first(who, 'list_webhooks') }),
    ),
    webhook_url_refused: corrected(
      'create_webhook',
      { url: 'https://10.0.0.1/' },
      { url: 'https://rackmail.net/' },
    ),
    review_needs_order: async () => {
      const who = await buyer()
      const review = () => who.call('submit_review', { rating: 5, body: 'Good' })
      return { call: review, take: who.take, meanwhile: () => who.vps() }
    },
    review_exists: async () => {
      const who = await buyer()
      await who.vps()
      const review = () => who.call('submit_review', { rating: 5, body: 'Good' })
      await review()
      return { call: review, take: who.take, further: () => who.call('list_reviews') }
    },
    unknown_product: corrected('order_vps', { product: 'none', os_id: 1 }, { product: 'nano', os_id: 1 }),
    os_not_supported: corrected('order_vps', { product: 'nano', os_id: 99 }, { product: 'nano', os_id: 1 }),
    price_above_maximum: corrected(
      'order_vps',
      { product: 'nano', os_id: 1, max_price: 1 },
      { product: 'nano', os_id: 1, max_price: 3 },
    ),
    invalid_user_data: corrected(
      'order_vps',
      { product: 'nano', os_id: 1, user_data: 'echo' },
      { product: 'nano', os_id: 1, user_data: '#!/bin/sh\necho' },
    ),
    quote_invalid: async () => {
      const who = await buyer()
      let quote_id = 'none'
      return {
        call: () => who.call('order_vps', { product: 'nano', os_id: 1, quote_id }),
        take: async (tool, input) => {
          const answer = await who.call(tool, input)
          quote_id = answer.body.quote.id
          return answer
        },
      }
    },
    plan_not_larger: onVps(
      'change_plan',
      { target_plan: 'nano', confirm: true },
      { target_plan: 'micro', confirm: true },
    ),
    confirmation_required: onVps(
      'cancel_service',
      { mode: 'immediate' },
      { mode: 'immediate', confirm: 'web' },
    ),
    no_own_address: async () => {
      const who = await buyer()
      const service_id = await who.vps()
      return {
        call: () => who.call('set_rdns', { service_id, hostname: 'one.rackmail.net' }),
        take: who.take,
        further: async () =>
          who.call('get_vps_status', { service_id: await who.vps({ product: 'micro-ip' }) }),
      }
    },
    rdns_unavailable: async () => {
      const who = await buyer()
      const service_id = await who.vps({ product: 'micro-ip' })
      return {
        call: () => who.call('set_rdns', { service_id, hostname: 'one.rackmail.net' }),
        take: who.take,
        fill: { create_ticket: { subject: 'Reverse names', body: 'Can they be set?' } },
        further: () => who.call('list_tickets'),
      }
    },
    unsupported: async () => {
      const poor = await startTestService({ driver: { features: { guestCommands: false } } })
      const { token } = await poor.customer(90_000_000n)
      const call = (tool: string, input: Input) => poor.tool(tool, input, { token })
      const { body } = await call('order_vps', { product: 'nano', os_id: 1 })
      await poor.reconcile()
      const { service_id } = body
      return {
        call: () => call('run_on_vps', { service_id, command: 'true' }),
        take: call,
        further: async () => {
          const shown = await call('get_vps_status', { service_id })
          await poor.close()
          return shown
        },
      }
    },
    capacity: async () => {
      const who = await buyer()
      await service.hostSays({ capacity: { vcpus: 1, memoryMb: 1, diskGb: 1 } })
      return {
        call: () => who.ask('POST', '/orders', { product: 'nano', os_id: 1 }),
        take: who.take,
        meanwhile: () => service.hostSays(),
      }
    },
    file_not_found: async () => {
      const who = await buyer()
      const service_id = await who.vps()
      const read = () => who.call('read_vps_file', { service_id, path: '/root/notes' })
      return {
        call: read,
        take: who.take,
        meanwhile: () => who.call('write_vps_file', { service_id, path: '/root/notes', content: 'x' }),
      }
    },
    file_refused: async () => {
      const who = await buyer()
      const sandbox_id = await who.sandbox()
      await who.call('write_file', { sandbox_id, path: 'folder/a', content: 'x' })
      return {
        call: () => who.call('read_file', { sandbox_id, path: 'folder' }),
        take: who.take,
        further: () => who.call('read_file', { sandbox_id, path: 'folder/a' }),
      }
    },
  } satisfies Record<string, Row>
}
