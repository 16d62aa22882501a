import { LARGEST_FILE_BYTES } from '@coinrack/contract/sandbox-files.ts'
import { CONTEXT_BYTES } from '@coinrack/contract/sandbox-templates.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { inTransaction } from '../../database/transaction.ts'
import { lockBalance } from '../../ledger/balance.ts'
import { OperationError } from '../../platform/errors.ts'
import { sandboxHostOf } from '../../platform/sandbox-host.ts'
import type { Services } from '../../platform/services.ts'
import { allowBrowsers } from '../../transport/for-browsers.ts'
import { TEMPLATE_UPLOADS } from '../../transport/preview-address.ts'
import { sandboxById } from '../life/sandbox-store.ts'
import { shownState } from '../life/sandbox-view.ts'
import { stateRefusal } from '../life/state-refusal.ts'
import { inWords } from '../tasks/ask-sandbox.ts'
import { isBusy } from './begin-build.ts'
import { lastBuilds } from './build-store.ts'
import { keepPieces, uploadsOf, useUpload } from './context-store.ts'
import { IMAGE_ARCHIVE } from './image/unpack-image.ts'
import { type TemplateRow, templateById } from './template-store.ts'
import { isGoodUploadLink } from './upload-links.ts'

type UploadRequest = FastifyRequest<{
  Params: { id: string }
  Querystring: { folder?: string; expires?: string; token?: string; signature?: string }
}>

/**
 * `PUT /template-uploads/{id}` for a caller with a signed link: the files that a Dockerfile may copy, or the archive of an
 * image. Neither is unpacked on this computer.
 */
export function registerTemplateUploads(app: FastifyInstance, services: Services): void {
  app.register(
    async (scope) => {
      await allowBrowsers(scope)
      // Whatever it is called: the bytes go on as they come.
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
      scope.route({
        method: 'PUT',
        url: '/:id',
        bodyLimit: LARGEST_FILE_BYTES,
        config: { onMachines: true },
        handler: async (request: UploadRequest) => {
          const { template, folder } = await checkLink(services, request)
          // An upload that is refused half-way leaves the request as it is, so that it can be answered.
          const source = request.raw.iterator({ destroyOnReturn: false })
          const declared = Number(request.headers['content-length'] ?? 0)
          return template.source === 'image'
            ? uploadImage(services, template, atMost(source, LARGEST_FILE_BYTES, declared))
            : uploadContext(services, template, folder, source, declared)
        },
      })
    },
    { prefix: TEMPLATE_UPLOADS },
  )
}

async function checkLink(services: Services, { params, query }: UploadRequest) {
  const { folder = '', expires = '', token: tokenId = '', signature = '' } = query
  const expiresAt = new Date(Number(expires || Number.NaN))
  const link = { templateId: params.id, folder, expiresAt, tokenId }
  if (!(await isGoodUploadLink(services, link, signature)))
    throw new OperationError('link_invalid', 'The link has expired, or is for something else', {
      nextSteps: [
        {
          tool: 'get_sandbox_template_upload_url',
          why: 'Get a new link, with a token',
          arguments: { template_id: params.id },
        },
      ],
    })
  return { template: await templateById(services.db, params.id), folder }
}

async function uploadContext(
  services: Services,
  template: TemplateRow,
  folder: string,
  source: AsyncIterable<Uint8Array>,
  declared: number,
) {
  const { db } = services
  const others = (await uploadsOf(db, template.id)).filter((each) => each.folder !== folder)
  const left = CONTEXT_BYTES - others.reduce((sum, { bytes }) => sum + Number(bytes), 0)
  const upload = services.newId('upload')
  const bytes = await keepPieces(db, upload, atMost(source, left, declared), services.clock.now())
  await inTransaction(db, async (tx) => {
    // Builds of an account begin under the same lock: none reads half of the files of before.
    await lockBalance(tx, template.account_id)
    const build = (await lastBuilds(tx, [template.id])).get(template.id)
    if (build?.status === 'running') throw isBusy(template)
    await useUpload(tx, { template_id: template.id, folder, upload, bytes: BigInt(bytes) })
  })
  return { template_id: template.id, bytes }
}

async function uploadImage(services: Services, template: TemplateRow, source: AsyncIterable<Uint8Array>) {
  const { db } = services
  const build = (await lastBuilds(db, [template.id])).get(template.id)
  if (build?.status !== 'running' || build.done > 0)
    throw new OperationError('template_busy', 'No build of this template waits for an image', {
      fix: 'Begin another build with build_sandbox_template, and upload the archive while it waits.',
      nextSteps: [
        { tool: 'build_sandbox_template', why: 'Build it again', arguments: { template_id: template.id } },
      ],
    })
  const sandbox = await sandboxById(db, build.sandbox_id)
  const state = shownState(sandbox)
  if (state !== 'running') throw new OperationError('sandbox_not_running', ...stateRefusal(sandbox.id, state))
  const { channel } = sandboxHostOf(services, sandbox)
  try {
    const bytes = await channel.files.write(sandbox.id, IMAGE_ARCHIVE, source, { user: 'root' })
    return { template_id: template.id, bytes }
  } catch (error) {
    throw inWords(error, sandbox.id)
  }
}

/** @param declared how many bytes the caller says that there are */
function atMost(
  source: AsyncIterable<Uint8Array>,
  most: number,
  declared: number,
): AsyncIterable<Uint8Array> {
  const tooLarge = () =>
    new OperationError('body_too_large', `The archive may have ${most} bytes at most`, {
      fix: 'Leave out what is not needed, or pack it with gzip.',
    })
  if (declared > most) throw tooLarge()
  return (async function* () {
    let bytes = 0
    for await (const piece of source) {
      bytes += piece.length
      if (bytes > most) throw tooLarge()
      yield piece
    }
  })()
}
