import type { Metrics, VpsRow } from './vps-store.ts'

/** What a VPS's owner is shown of it. */
export type ShownVps = Pick<
  VpsRow,
  | 'id'
  | 'order_id'
  | 'product'
  | 'os_id'
  | 'os_name'
  | 'region'
  | 'hostname'
  | 'ssh_host'
  | 'ssh_port'
  | 'ipv6'
  | 'ssh_host_public_key'
  | 'password_available'
  | 'status'
  | 'ssh_ready'
  | 'rescue'
  | 'failure_reason'
  | 'observation'
  | 'price'
  | 'price_hourly'
  | 'cycle'
  | 'auto_renew'
  | 'paid_until'
  | 'delete_at'
  | 'cancel_at_period_end'
  | 'created_at'
>

/** The same as PostgreSQL writes it in JSON. */
export type ShownVpsJson = Omit<
  ShownVps,
  'price' | 'price_hourly' | 'paid_until' | 'delete_at' | 'created_at' | 'observation'
> & {
  account_id: string
  /** Micro-USD as text: a JSON number is no place for money. */
  price: string
  price_hourly: string
  paid_until: string | null
  delete_at: string | null
  created_at: string
  observation: Metrics | null
}

export const SHOWN_VPS = `
select account_id, id, order_id, product, os_id, os_name, region, hostname, ssh_host, ssh_port, ipv6, ssh_host_public_key,
  root_password is not null as password_available, status, ssh_ready, rescue, failure_reason, observation,
  price::text as price, price_hourly::text as price_hourly, cycle, auto_renew, paid_until, delete_at,
  cancel_at_period_end, created_at
from vps`

export const shownVps = (json: ShownVpsJson): ShownVps => ({
  ...json,
  price: BigInt(json.price),
  price_hourly: BigInt(json.price_hourly),
  paid_until: dateOf(json.paid_until),
  delete_at: dateOf(json.delete_at),
  created_at: new Date(json.created_at),
})

const dateOf = (text: string | null) => (text === null ? null : new Date(text))
