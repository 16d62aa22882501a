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
  | 'paid_until'
  | 'cancel_at_period_end'
  | 'created_at'
>

/** The same as PostgreSQL writes it in JSON. */
export type ShownVpsJson = Omit<ShownVps, 'price' | 'paid_until' | 'created_at' | 'observation'> & {
  account_id: string
  /** Micro-USD as text: a JSON number is no place for money. */
  price: string
  paid_until: string | null
  created_at: string
  observation: Metrics | null
}

export const SHOWN_VPS = `
select account_id, id, order_id, product, os_id, os_name, region, hostname, ssh_host, ssh_port, ipv6, ssh_host_public_key,
  root_password is not null as password_available, status, ssh_ready, rescue, failure_reason, observation,
  price::text as price, paid_until, cancel_at_period_end, created_at
from vps`

export const shownVps = (json: ShownVpsJson): ShownVps => ({
  ...json,
  price: BigInt(json.price),
  paid_until: json.paid_until === null ? null : new Date(json.paid_until),
  created_at: new Date(json.created_at),
})
