import type { VpsReadModelJson } from '../../dispatch/read-models.ts'
import type { VpsRow } from './vps-store.ts'

/** The fields of a VPS that its owner is shown. */
export type VpsReadModel = Pick<
  VpsRow,
  | 'id'
  | 'order_id'
  | 'product'
  | 'os_id'
  | 'os_name'
  | 'region'
  | 'host_id'
  | 'features'
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

/** The same, of what PostgreSQL wrote in JSON. */
export const vpsReadModel = (json: VpsReadModelJson): VpsReadModel => ({
  ...json,
  price: BigInt(json.price),
  price_hourly: BigInt(json.price_hourly),
  paid_until: dateOf(json.paid_until),
  delete_at: dateOf(json.delete_at),
  created_at: new Date(json.created_at),
})

const dateOf = (text: string | null) => (text === null ? null : new Date(text))
