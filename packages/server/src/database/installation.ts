import type pg from 'pg'
import { sha256 } from '../platform/sealer.ts'

/** The settings that all services of one database share. */
export interface Installation {
  profile: string
  /** The id of the data folder, in which the machines are; undefined for a replica without machines. */
  folderId: string | undefined
  serverSecret: string
  depositSecret: string
}

/** The database belongs to another installation. */
export class OtherInstallationError extends Error {
  override name = 'OtherInstallationError'
}

interface InstallationRow {
  profile: string
  /** Null until a service with machines has begun. */
  data_folder: string | null
  server_secret: Buffer
  deposit_secret: Buffer
}

/**
 * Assigns the database to this installation when it has none yet.
 * @throws OtherInstallationError when the database belongs to another installation
 */
export async function demandSameInstallation(db: pg.Pool, own: Installation): Promise<void> {
  const wanted = [
    own.profile,
    own.folderId,
    mark('server', own.serverSecret),
    mark('deposit', own.depositSecret),
  ]
  await db.query(
    `insert into installation (profile, data_folder, server_secret, deposit_secret) values ($1, $2, $3, $4)
     on conflict do nothing`,
    wanted,
  )
  await db.query('update installation set data_folder = $1 where data_folder is null', [own.folderId])
  const { rows } = await db.query<InstallationRow>(
    'select profile, data_folder, server_secret, deposit_secret from installation',
  )
  const problem = problemOf(rows[0]!, own)
  if (problem) throw new OtherInstallationError(problem.join('\n  '))
}

function problemOf(row: InstallationRow, own: Installation): [what: string, fix: string] | undefined {
  if (row.profile !== own.profile)
    return [
      `The database belongs to the ${row.profile} profile, and the profile is now ${own.profile}`,
      'Set DATABASE_URL to another database: balances of the demo are not money.',
    ]
  if (!row.deposit_secret.equals(mark('deposit', own.depositSecret)))
    return [
      'COINRACK_DEPOSIT_SECRET is not the one of this database: customers would be told other addresses to pay to',
      'Set the one that the database was begun with.',
    ]
  if (!row.server_secret.equals(mark('server', own.serverSecret)))
    return [
      'COINRACK_SERVER_SECRET is not the one of this database: what is sealed in it could not be read',
      'Set the one that the database was begun with.',
    ]
  if (own.folderId !== undefined && row.data_folder !== own.folderId)
    return [
      'The machines of this database are in another data folder: here each would be made once more',
      'Set COINRACK_DATA to that folder; a further replica without machines of its own has COINRACK_LOCAL_MACHINES=false. If the folder is lost, restore its secrets/ from the backup; without one, delete the row of the table installation.',
    ]
  return undefined
}

/** A hash that shows whether two secrets are the same and reveals nothing else: secrets have at least 32 bytes. */
const mark = (name: string, secret: string) => sha256(`coinrack ${name} secret\n${secret}`)
