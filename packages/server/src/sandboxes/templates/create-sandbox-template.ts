import { TEMPLATES } from '@coinrack/contract/sandbox-templates.ts'
import { type Handler, preparedHandler } from '../../dispatch/handler.ts'
import { lockBalance } from '../../ledger/balance.ts'
import { OperationError } from '../../platform/errors.ts'
import { chooseTariff } from '../life/choose-size.ts'
import { askHosts } from '../placement/ask-hosts.ts'
import { snapshotById } from '../snapshots/snapshot-store.ts'
import { beginBuild, prepareBuild, tariffOfBuild } from './begin-build.ts'
import { keepPieces, useUpload } from './context-store.ts'
import { contextIn, packFiles } from './read-context.ts'
import { countTemplates, insertTemplate, type TemplateRow, templateById } from './template-store.ts'
import { templateView } from './template-view.ts'

export const createSandboxTemplate: Handler<'createSandboxTemplate'> = preparedHandler(
  async ({ input, services, db }) => {
    const hosts = await askHosts(services)
    if (input.files.length === 0) return { hosts, context: [], upload: undefined }
    const files = input.files.map(({ path, content, content_base64, mode }) => ({
      path,
      content: content === undefined ? Buffer.from(content_base64!, 'base64') : Buffer.from(content),
      mode: Number.parseInt(mode, 8),
    }))
    const archive = await packFiles(files)
    const upload = services.newId('upload')
    // Belongs to no template until the transaction says so.
    const bytes = await keepPieces(db, upload, inPieces(archive), services.clock.now())
    const context = await contextIn([{ folder: '', pieces: inPieces(archive) }])
    return { hosts, context, upload: { upload, bytes: BigInt(bytes) } }
  },
  async (call, { hosts, context, upload }) => {
    const { input, caller, db, services, fail } = call
    const { accountId } = caller
    // One at a time for each account, so that two do not count the same ones.
    await lockBalance(db, accountId)
    if ((await countTemplates(db, accountId)) >= TEMPLATES)
      fail('template_limit', `${TEMPLATES} templates are kept already`)
    const now = services.clock.now()
    const made = await madeFrom(call, hosts)
    const row = await insertTemplate(db, {
      id: services.newId('template'),
      account_id: accountId,
      name: input.name,
      source: made.source,
      tariff: made.tariff,
      dockerfile: input.dockerfile ?? null,
      args: input.args,
      ready: input.ready ?? null,
      network: input.network ?? null,
      timeout_s: input.timeout,
      snapshot_id: made.snapshot_id,
      built_at: made.snapshot_id === null ? null : now,
      created_at: now,
    })
    if (!row) return fail('template_exists', `There is a template named ${input.name} already`)
    if (upload) await useUpload(db, { template_id: row.id, folder: '', ...upload })
    if (made.source !== 'snapshot' && !(input.upload && made.source === 'dockerfile')) {
      const prepared = await prepareBuild(services, db, row, context)
      await beginBuild(call, db, hosts, row, prepared, { fresh: false })
    }
    return { template: await templateView(db, await templateById(db, row.id)) }
  },
)

/** The part of a template that follows from what it is made from. */
async function madeFrom(
  { input, caller, db }: Parameters<Handler<'createSandboxTemplate'>>[0],
  hosts: Awaited<ReturnType<typeof askHosts>>,
): Promise<Pick<TemplateRow, 'source' | 'tariff' | 'snapshot_id'>> {
  const { snapshot_id, dockerfile, args } = input
  if (snapshot_id !== undefined) {
    const snapshot = await snapshotById(db, snapshot_id)
    if (snapshot?.purpose !== 'customer')
      throw new OperationError('unknown_template', `There is no ready snapshot ${snapshot_id.slice(0, 60)}`)
    const tariff = await chooseTariff(db, hosts, caller.accountId, { ...input, template: snapshot_id })
    return { source: 'snapshot', tariff, snapshot_id }
  }
  if (dockerfile === undefined) return { source: 'image', tariff: input.tariff ?? 'micro', snapshot_id: null }
  const tariff = input.tariff ?? (await tariffOfBuild(db, caller.accountId, { dockerfile, args }))
  return { source: 'dockerfile', tariff, snapshot_id: null }
}

async function* inPieces(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE)
}
const PIECE = 1024 * 1024
