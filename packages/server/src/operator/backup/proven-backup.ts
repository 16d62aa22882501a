import type { Queryable } from '../../database/transaction.ts'
import { sha256 } from '../../platform/sealer.ts'
import { type Operator, RefusedError } from '../command.ts'

/** Notes that a backup begins, so that a database restored from it can prove so. */
export async function noteBackup(
  db: Queryable,
  { proof, madeAt, recipient }: { proof: string; madeAt: Date; recipient: string },
): Promise<void> {
  await db.query('insert into backup (proof_hash, made_at, recipient) values ($1, $2, $3)', [
    sha256(proof),
    madeAt,
    recipient,
  ])
}

/**
 * The backup with this proof was restored.
 * @returns when the backup was made; undefined when none with this proof was made from this database
 */
export async function proveBackup(db: Queryable, proof: string, at: Date): Promise<Date | undefined> {
  const { rows } = await db.query<{ made_at: Date }>(
    'update backup set restored_at = coalesce(restored_at, $2) where proof_hash = $1 returning made_at',
    [sha256(proof), at],
  )
  return rows[0]?.made_at
}

/**
 * Before real money arrives, one backup has to have been restored: deposit addresses are lost with the deposit secret.
 * @throws RefusedError in the production profile as long as none was
 */
export async function demandProvenBackup({ installed, db }: Operator): Promise<void> {
  if (installed.profile !== 'production') return
  const { rowCount } = await (await db()).query('select from backup where restored_at is not null limit 1')
  if (rowCount) return
  throw new RefusedError(`No backup of this installation was ever restored, and without one its deposit addresses can be lost:
  1. here:                 npm run operator -- backup <file> --to <age1...>
  2. in an empty folder:   npm run operator -- restore <file> --identity <key file>
  3. here:                 npm run operator -- backup prove <the code that 2 prints>`)
}
