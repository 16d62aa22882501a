import type { SandboxTemplate } from '@coinrack/contract/sandbox-templates.ts'
import type { z } from 'zod'
import type { Queryable } from '../../database/transaction.ts'
import { type BuildRow, lastBuilds } from './build-store.ts'
import type { TemplateRow } from './template-store.ts'

type View = z.output<typeof SandboxTemplate>

const MIB = 1024n * 1024n

/** Templates as their owner sees them, in their order. */
export async function templateViews(db: Queryable, rows: readonly TemplateRow[]): Promise<View[]> {
  const builds = await lastBuilds(
    db,
    rows.map(({ id }) => id),
  )
  const ids = rows.flatMap(({ snapshot_id }) => snapshot_id ?? [])
  const { rows: sizes } = await db.query<{ id: string; bytes: bigint | null }>(
    'select id, bytes from sandbox_snapshot where id = any($1)',
    [ids],
  )
  const bytesOf = new Map(sizes.map(({ id, bytes }) => [id, bytes]))
  return rows.map((row) => view(row, builds.get(row.id), bytesOf.get(row.snapshot_id ?? '') ?? null))
}

export const templateView = async (db: Queryable, row: TemplateRow): Promise<View> =>
  (await templateViews(db, [row]))[0]!

function view(row: TemplateRow, build: BuildRow | undefined, bytes: bigint | null): View {
  return {
    id: row.id,
    name: row.name,
    status: statusOf(row, build),
    source: row.source,
    tariff: row.tariff,
    size_mb: bytes === null ? null : Number(bytes / MIB),
    build: build
      ? {
          id: build.id,
          status: build.status,
          sandbox_id: build.sandbox_id,
          steps_done: build.done,
          error: build.error,
          created_at: build.created_at,
          ended_at: build.ended_at,
        }
      : null,
    created_at: row.created_at,
    built_at: row.built_at,
  }
}

/** One that was built is ready, also when a later build has failed; while it is built again that is said. */
function statusOf({ snapshot_id }: TemplateRow, build: BuildRow | undefined): View['status'] {
  if (build?.status === 'running') return 'building'
  if (snapshot_id !== null) return 'ready'
  return build ? 'failed' : 'waiting'
}
