import type { vpsStatuses } from '@coinrack/contract/vps.ts'
import type { Cycle } from '@coinrack/money/index.ts'

/*
 * A VPS or a sandbox as it is read together with the token, in one statement: it answers a plain read. As JSON.
 */

/** The last observation of a machine; null where there was none. */
export interface Metrics {
  cpu_percent: number | null
  memory_used_mb: number | null
  disk_used_gb: number | null
  rx_bytes: number | null
  tx_bytes: number | null
  uptime_s: number | null
}

/** The part of a VPS that its owner is shown. */
export interface VpsReadModelJson {
  account_id: string
  id: string
  order_id: string
  product: string
  os_id: number
  os_name: string
  region: string
  host_id: string
  features: string[]
  hostname: string
  ssh_host: string
  ssh_port: number
  ipv6: string | null
  ssh_host_public_key: string
  password_available: boolean
  status: (typeof vpsStatuses)[number]
  ssh_ready: boolean
  rescue: boolean
  failure_reason: string | null
  observation: Metrics | null
  /** Micro-USD as text: a JSON number is no place for money. */
  price: string
  price_hourly: string
  cycle: Cycle
  auto_renew: boolean
  paid_until: string | null
  delete_at: string | null
  cancel_at_period_end: boolean
  created_at: string
}

export const SHOWN_VPS = `
select account_id, id, order_id, product, os_id, os_name, region, host_id, hostname, ssh_host, ssh_port, ipv6, ssh_host_public_key,
  root_password is not null as password_available, status, ssh_ready, rescue, failure_reason, observation,
  price::text as price, price_hourly::text as price_hourly, cycle, auto_renew, paid_until, delete_at,
  cancel_at_period_end, created_at, (select features from host where host.id = host_id) as features
from vps`

/** The facts about a sandbox that are needed before anything is done inside it. */
export interface SandboxUse {
  account_id: string
  host_id: string
  state: 'starting' | 'running' | 'paused' | 'ended' | 'failed'
  wanted: 'running' | 'paused' | 'ended'
  idle_s: number
  idle_at: string | null
  /** It belongs to the program that it runs. */
  runs_program: boolean
}

export const SANDBOX_USE = `select account_id, host_id, state, wanted, idle_s, idle_at,
  program_token_id is not null as runs_program from sandbox`
