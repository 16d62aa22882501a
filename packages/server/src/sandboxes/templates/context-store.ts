import type { Queryable, Transaction } from '../../database/transaction.ts'

/** How many bytes stand in one row. */
const PIECE_BYTES = 1024 * 1024

export interface UploadRow {
  template_id: string
  /** The folder of the context that it is unpacked in; empty: the context itself. */
  folder: string
  /** By which its pieces are found. */
  upload: string
  bytes: bigint
}

/** The uploads of a template, by folder. */
export async function uploadsOf(db: Queryable, templateId: string): Promise<UploadRow[]> {
  const { rows } = await db.query<UploadRow>(
    'select template_id, folder, upload, bytes from sandbox_template_upload where template_id = $1 order by folder',
    [templateId],
  )
  return rows
}

/**
 * Keeps bytes that come in, under a name of their own: they belong to no template until `useUpload`.
 * @returns how many there were
 */
export async function keepPieces(
  db: Queryable,
  upload: string,
  source: AsyncIterable<Uint8Array>,
  now: Date,
): Promise<number> {
  let bytes = 0
  let number = 0
  let held: Uint8Array[] = []
  let size = 0
  const put = async () => {
    if (size === 0) return
    await db.query(
      'insert into sandbox_template_piece (upload, number, content, created_at) values ($1, $2, $3, $4)',
      [upload, number++, Buffer.concat(held), now],
    )
    held = []
    size = 0
  }
  for await (const piece of source) {
    bytes += piece.length
    held.push(piece)
    size += piece.length
    if (size >= PIECE_BYTES) await put()
  }
  await put()
  return bytes
}

/** Makes an upload what the template has in a folder. The one before is forgotten later. */
export async function useUpload(
  tx: Transaction,
  { template_id, folder, upload, bytes }: UploadRow,
): Promise<void> {
  await tx.query(
    `insert into sandbox_template_upload (template_id, folder, upload, bytes) values ($1, $2, $3, $4)
     on conflict (template_id, folder) do update set upload = $3, bytes = $4`,
    [template_id, folder, upload, bytes],
  )
}

/** Forgets the uploads of a template that is not being built. */
export async function clearUploads(db: Queryable, templateId: string): Promise<void> {
  await db.query(
    `delete from sandbox_template_upload where template_id = $1
     and not exists (select from sandbox_build where template_id = $1 and status = 'running')`,
    [templateId],
  )
}

/** The pieces of an upload, one after the other. */
export async function* piecesOf(db: Queryable, upload: string): AsyncGenerator<Buffer> {
  for (let number = 0; ; number++) {
    const { rows } = await db.query<{ content: Buffer }>(
      'select content from sandbox_template_piece where upload = $1 and number = $2',
      [upload, number],
    )
    if (!rows[0]) return
    yield rows[0].content
  }
}

/** Forgets what belongs to no template any more. */
export async function forgetUploads(db: Queryable, before: Date): Promise<void> {
  await db.query(
    `delete from sandbox_template_upload upload using sandbox_template template
     where template.id = upload.template_id and template.deleted_at is not null`,
  )
  await db.query(
    `delete from sandbox_template_piece piece where created_at < $1
     and not exists (select from sandbox_template_upload kept where kept.upload = piece.upload)`,
    [before],
  )
}
