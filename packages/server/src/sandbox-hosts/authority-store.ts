import type { Queryable } from '../database/transaction.ts'

interface KeptAuthority {
  certificate: string
  sealed_key: Buffer
}

/** The authority that is kept; where there is none, the one that is made now, or that another replica made first. */
export async function keepAuthority(
  db: Queryable,
  make: () => Promise<KeptAuthority>,
): Promise<KeptAuthority> {
  const found = await authority(db)
  if (found) return found
  const { certificate, sealed_key } = await make()
  await db.query(
    'insert into host_authority (certificate, sealed_key) values ($1, $2) on conflict do nothing',
    [certificate, sealed_key],
  )
  return (await authority(db))!
}

/** The certificate of the authority, in PEM; undefined until a service has taken hosts. */
export const authorityCertificate = async (db: Queryable): Promise<string | undefined> =>
  (await authority(db))?.certificate

async function authority(db: Queryable): Promise<KeptAuthority | undefined> {
  const { rows } = await db.query<KeptAuthority>('select certificate, sealed_key from host_authority')
  return rows[0]
}
