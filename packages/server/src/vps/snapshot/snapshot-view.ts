import type { Snapshot } from '@coinrack/contract/snapshots.ts'
import type { z } from 'zod'
import type { SnapshotRow } from './snapshot-store.ts'

/** A snapshot as its owner sees it. */
export const snapshotView = (row: SnapshotRow): z.output<typeof Snapshot> => ({
  id: row.id,
  service_id: row.vps_id,
  name: row.name,
  reason: row.reason,
  status: row.status,
  include_memory: row.include_memory,
  consistency: row.consistency,
  failure_reason: row.failure_reason,
  created_at: row.created_at,
  expires_at: row.expires_at,
})
