import type { Sandbox } from '@coinrack/contract/sandboxes.ts'
import { meteredCost } from '@coinrack/money/index.ts'
import type { z } from 'zod'
import type { Clock } from '../../platform/services.ts'
import type { SandboxRow } from './sandbox-store.ts'

type View = z.output<typeof Sandbox>

/** A sandbox as its owner sees it. */
export function sandboxView(row: SandboxRow, clock: Clock): View {
  const ranMs = ranBy(row, clock.now())
  const isOver = row.state === 'ended' || row.state === 'failed'
  const ends = [row.expires_at, row.idle_at].filter((at) => at !== null)
  return {
    id: row.id,
    state: shownState(row),
    reason: row.reason,
    failure: row.failure,
    tariff: row.tariff,
    template: row.template_name ?? row.template,
    mode: row.mode,
    vcpus: row.vcpus,
    memory_mb: row.memory_mb,
    disk_gb: row.disk_gb,
    price_per_hour: row.price_hourly,
    seconds: ranMs / 1000,
    cost: meteredCost(row.price_hourly, ranMs) - row.waived,
    timeout: row.timeout_s,
    idle_timeout: row.idle_s,
    expires_at: isOver ? null : new Date(Math.min(...ends.map((at) => at.getTime()))),
    network: row.network,
    metadata: row.metadata,
    parent_id: row.parent_id,
    created_at: row.created_at,
    ended_at: row.ended_at,
  }
}

/** The time that was seen, and the time since; a crashed one does not run, though its end is still to be settled. */
const ranBy = (row: SandboxRow, now: Date) =>
  Number(row.ran_ms) +
  (row.state === 'running' && row.reason !== 'crashed'
    ? Math.max(0, now.getTime() - row.seen_at.getTime())
    : 0)

/** The state that a sandbox is in, or is on the way to. */
export function shownState({ state, wanted }: Pick<SandboxRow, 'state' | 'wanted'>): View['state'] {
  if (state === 'failed') return 'failed'
  if (wanted === 'ended') return 'ended'
  if (state === 'running' && wanted === 'paused') return 'pausing'
  if (state === 'paused' && wanted === 'running') return 'resuming'
  return state
}
