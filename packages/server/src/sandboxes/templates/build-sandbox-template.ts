import { type Handler, preparedHandler } from '../../dispatch/handler.ts'
import { lockBalance } from '../../ledger/balance.ts'
import { askHosts } from '../placement/ask-hosts.ts'
import { beginBuild, isBusy, prepareBuild } from './begin-build.ts'
import { uploadsOf } from './context-store.ts'
import { readContext } from './read-context.ts'
import { badDockerfile } from './read-dockerfile.ts'
import { templateById, updateTemplate } from './template-store.ts'
import { templateView } from './template-view.ts'

export const buildSandboxTemplate: Handler<'buildSandboxTemplate'> = preparedHandler(
  ({ input, services, db }) => prepare(services, db, input.template_id),
  async (call, { hosts, uploads, context }) => {
    const { input, caller, db, services } = call
    await lockBalance(db, caller.accountId)
    const { template_id: id, dockerfile, args, ready, tariff, fresh } = input
    const before = await templateById(db, id)
    if (before.deleted_at || uploads !== (await nameUploads(db, id))) throw isBusy(before)
    if (before.source === 'snapshot' && dockerfile === undefined)
      throw badDockerfile(1, 'FROM', 'this template was made from a snapshot: send a Dockerfile to build it')
    if (before.source === 'image' && dockerfile !== undefined)
      throw badDockerfile(1, 'FROM', 'this template is made from an image: make another one for a Dockerfile')
    const change = {
      ...(dockerfile !== undefined && { dockerfile, source: 'dockerfile' as const }),
      ...(args !== undefined && { args }),
      ...(ready !== undefined && { ready }),
      ...(tariff !== undefined && { tariff }),
    }
    if (Object.keys(change).length > 0) await updateTemplate(db, id, change)
    const template = await templateById(db, id)
    await beginBuild(call, db, hosts, template, await prepareBuild(services, db, template, context), {
      fresh,
    })
    return { template: await templateView(db, template) }
  },
)

/** What is slow: the hosts are asked, and the files that may be copied are read. */
async function prepare(
  services: Parameters<typeof askHosts>[0],
  db: Parameters<typeof readContext>[0],
  templateId: string,
) {
  const hosts = await askHosts(services)
  const uploads = await nameUploads(db, templateId)
  return { hosts, uploads, context: await readContext(db, templateId) }
}

/** The uploads of a template as they are now: others have other names. */
const nameUploads = async (db: Parameters<typeof readContext>[0], templateId: string) =>
  (await uploadsOf(db, templateId)).map(({ upload }) => upload).join(' ')
