import type { TariffName } from '@coinrack/contract/sandbox-tariffs.ts'
import type { templateSources } from '@coinrack/contract/sandbox-templates.ts'
import { assignments, insertion } from '../../database/columns.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'
import type { Services } from '../../platform/services.ts'
import type { NetworkJson } from '../life/sandbox-store.ts'

export interface TemplateRow {
  id: string
  account_id: string
  name: string
  source: (typeof templateSources)[number]
  tariff: TariffName
  dockerfile: string | null
  args: Record<string, string>
  ready: string | null
  network: NetworkJson | null
  timeout_s: number
  /** What sandboxes are made from; null until it was built. */
  snapshot_id: string | null
  /** Sealed; null where there are none. */
  env: Buffer | null
  default_user: string | null
  workdir: string | null
  built_at: Date | null
  created_at: Date
  deleted_at: Date | null
}

const COLUMNS = `id, account_id, name, source, tariff, dockerfile, args, ready, network, timeout_s, snapshot_id, env,
  default_user, workdir, built_at, created_at, deleted_at`

export type NewTemplate = Omit<
  TemplateRow,
  'snapshot_id' | 'env' | 'default_user' | 'workdir' | 'built_at' | 'deleted_at'
> &
  Partial<Pick<TemplateRow, 'snapshot_id' | 'built_at'>>

/** Undefined when the account has another one of this name. */
export async function insertTemplate(tx: Transaction, row: NewTemplate): Promise<TemplateRow | undefined> {
  const { rows } = await tx.query<TemplateRow>(
    `insert into sandbox_template ${insertion(row)}
     on conflict (account_id, name) where deleted_at is null do nothing returning ${COLUMNS}`,
    Object.values(row),
  )
  return rows[0]
}

/** Also one that was deleted. */
export async function templateById(db: Queryable, id: string): Promise<TemplateRow> {
  const { rows } = await db.query<TemplateRow>(`select ${COLUMNS} from sandbox_template where id = $1`, [id])
  if (!rows[0]) throw new Error(`There is no template ${id}`)
  return rows[0]
}

/** Newest first. */
export async function templatesOf(
  db: Queryable,
  accountId: string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<TemplateRow[]> {
  const { rows } = await db.query<TemplateRow>(
    `select ${COLUMNS} from sandbox_template
     where account_id = $1 and deleted_at is null and ($3::text is null or id < $3)
     order by id desc limit $2 + 1`,
    [accountId, limit, cursor ?? null],
  )
  return rows
}

/** The number of templates of an account, which the caller has locked. */
export async function countTemplates(tx: Transaction, accountId: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    'select count(*)::int as count from sandbox_template where account_id = $1 and deleted_at is null',
    [accountId],
  )
  return rows[0]!.count
}

/** An account's own template, by its name or id. */
export async function templateNamed(
  db: Queryable,
  accountId: string,
  name: string,
): Promise<TemplateRow | undefined> {
  const { rows } = await db.query<TemplateRow>(
    `select ${COLUMNS} from sandbox_template where account_id = $1 and (name = $2 or id = $2) and deleted_at is null`,
    [accountId, name],
  )
  return rows[0]
}

export async function updateTemplate(
  db: Queryable,
  id: string,
  change: Partial<Omit<TemplateRow, 'id' | 'account_id'>>,
): Promise<void> {
  await db.query(`update sandbox_template set ${assignments(change, 2)} where id = $1`, [
    id,
    ...Object.values(change),
  ])
}

/** Whether a template that is there is made of the snapshot. */
export async function isOfTemplate(db: Queryable, snapshotId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'select from sandbox_template where snapshot_id = $1 and deleted_at is null limit 1',
    [snapshotId],
  )
  return rowCount === 1
}

/** Wants the files of a snapshot removed that no template is made of any more, unless it is a customer's own. */
export async function dropSnapshot(db: Queryable, snapshotId: string): Promise<void> {
  await db.query(
    `update sandbox_snapshot set status = 'deleting'
     where id = $1 and purpose <> 'customer' and status in ('creating', 'ready', 'failed')
       and not exists (select from sandbox_template where snapshot_id = $1 and deleted_at is null)`,
    [snapshotId],
  )
}

const envPurpose = (id: string) => `template-env:${id}`

export const sealTemplateEnv = (
  { sealer }: Pick<Services, 'sealer'>,
  id: string,
  env: Record<string, string>,
) => sealer.seal(JSON.stringify(env), envPurpose(id))

/** The variables of every program in its sandboxes. */
export const templateEnv = (
  { sealer }: Pick<Services, 'sealer'>,
  { id, env }: Pick<TemplateRow, 'id' | 'env'>,
): Record<string, string> => (env === null ? {} : JSON.parse(sealer.open(env, envPurpose(id))))
