import type { SandboxSnapshot } from '@coinrack/contract/sandboxes.ts'
import type { z } from 'zod'
import type { SnapshotRow } from './snapshot-store.ts'

const MIB = 1024n * 1024n

/** A snapshot as its owner sees it. */
export const snapshotView = ({ status, bytes, ...row }: SnapshotRow): z.output<typeof SandboxSnapshot> => ({
  id: row.id,
  sandbox_id: row.sandbox_id,
  name: row.name,
  status: status === 'deleted' ? 'deleting' : status,
  tariff: row.tariff,
  size_mb: bytes === null ? null : Number(bytes / MIB),
  created_at: row.created_at,
})
