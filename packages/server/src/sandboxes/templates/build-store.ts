import { assignments, insertion } from '../../database/columns.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'

export interface BuildRow {
  id: string
  template_id: string
  account_id: string
  sandbox_id: string
  status: 'running' | 'succeeded' | 'failed'
  /** How many steps are done. */
  done: number
  /** How much of the output of the present step is in the log. */
  read_stdout: bigint
  read_stderr: bigint
  /** How often the present step could not be gone on with. */
  tries: number
  fresh: boolean
  /** The snapshot that becomes the template's. */
  snapshot_id: string | null
  error: string | null
  log_bytes: bigint
  created_at: Date
  ended_at: Date | null
}

const COLUMNS = `id, template_id, account_id, sandbox_id, status, done, read_stdout, read_stderr, tries, fresh, snapshot_id,
  error, log_bytes, created_at, ended_at`

export type NewBuild = Pick<
  BuildRow,
  'id' | 'template_id' | 'account_id' | 'sandbox_id' | 'done' | 'fresh' | 'created_at'
>

/** Undefined when the template is being built already. */
export async function insertBuild(tx: Transaction, row: NewBuild): Promise<BuildRow | undefined> {
  const { rows } = await tx.query<BuildRow>(
    `insert into sandbox_build ${insertion(row)}
     on conflict (template_id) where status = 'running' do nothing returning ${COLUMNS}`,
    Object.values(row),
  )
  return rows[0]
}

export async function buildById(db: Queryable, id: string): Promise<BuildRow> {
  const { rows } = await db.query<BuildRow>(`select ${COLUMNS} from sandbox_build where id = $1`, [id])
  if (!rows[0]) throw new Error(`There is no build ${id}`)
  return rows[0]
}

/** The last build of each of these templates that has one. */
export async function lastBuilds(
  db: Queryable,
  templateIds: readonly string[],
): Promise<Map<string, BuildRow>> {
  const { rows } = await db.query<BuildRow>(
    `select distinct on (template_id) ${COLUMNS} from sandbox_build where template_id = any($1)
     order by template_id, id desc`,
    [templateIds],
  )
  return new Map(rows.map((row) => [row.template_id, row]))
}

/** How many builds of a template were begun. */
export async function countBuilds(db: Queryable, templateId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*)::int as count from sandbox_build where template_id = $1',
    [templateId],
  )
  return rows[0]!.count
}

/** A build of a template by its place in their order, from 1 on; undefined before it was begun. */
export async function buildAt(
  db: Queryable,
  templateId: string,
  place: number,
): Promise<BuildRow | undefined> {
  const { rows } = await db.query<BuildRow>(
    `select ${COLUMNS} from sandbox_build where template_id = $1 order by id offset $2 limit 1`,
    [templateId, place - 1],
  )
  return rows[0]
}

export async function buildsInWork(db: Queryable): Promise<BuildRow[]> {
  const { rows } = await db.query<BuildRow>({
    name: 'sandbox_builds_in_work',
    text: `select ${COLUMNS} from sandbox_build where status = 'running' order by id`,
  })
  return rows
}

/** Changes a build that still runs. @returns whether it did */
export async function updateBuild(
  db: Queryable,
  id: string,
  change: Partial<Omit<BuildRow, 'id' | 'template_id' | 'account_id'>>,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update sandbox_build set ${assignments(change, 2)} where id = $1 and status = 'running'`,
    [id, ...Object.values(change)],
  )
  return rowCount === 1
}

export interface LogLine {
  number: number
  at: Date
  stream: 'step' | 'stdout' | 'stderr'
  text: string
}

/** Adds to the log of a build. One process at a time writes it. */
export async function insertLog(
  tx: Queryable,
  buildId: string,
  lines: readonly Pick<LogLine, 'stream' | 'text'>[],
  at: Date,
): Promise<void> {
  if (lines.length === 0) return
  await tx.query(
    `insert into sandbox_build_log (build_id, number, at, stream, text)
     select $1, (select coalesce(max(number), 0) from sandbox_build_log where build_id = $1) + line.position, $2, line.stream, line.text
     from unnest($3::text[], $4::text[]) with ordinality line (stream, text, position)`,
    [buildId, at, lines.map(({ stream }) => stream), lines.map(({ text }) => text)],
  )
}

export async function logAfter(
  db: Queryable,
  buildId: string,
  after: number,
  most: number,
): Promise<LogLine[]> {
  const { rows } = await db.query<LogLine>(
    `select number, at, stream, text from sandbox_build_log where build_id = $1 and number > $2
     order by number limit $3`,
    [buildId, after, most],
  )
  return rows
}

/** Forgets the builds of templates that are gone, and the logs of builds after which there was another. */
export async function forgetOldBuilds(db: Queryable, before: Date): Promise<void> {
  await db.query(
    `delete from sandbox_build_log log using sandbox_build build
     where build.id = log.build_id and build.status <> 'running' and build.ended_at < $1
       and (exists (select from sandbox_build later where later.template_id = build.template_id and later.id > build.id)
         or exists (select from sandbox_template gone where gone.id = build.template_id and gone.deleted_at is not null))`,
    [before],
  )
}
