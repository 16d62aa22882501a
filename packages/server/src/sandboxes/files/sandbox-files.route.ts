import { basename } from 'node:path'
import { basePath } from '@coinrack/contract/index.ts'
import { LARGEST_FILE_BYTES } from '@coinrack/contract/sandbox-files.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Dispatch } from '../../dispatch/dispatch.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { allowBrowsers, headersSoFar } from '../../transport/for-browsers.ts'
import { bearerToken } from '../../transport/rest.ts'
import { inWords } from '../tasks/ask-sandbox.ts'
import { type ByteRange, downloadFile, tooLarge, uploadFile } from './carry-file.ts'
import { isGoodLink } from './file-links.ts'

type FileRequest = FastifyRequest<{
  Params: { id: string }
  Querystring: { path?: string; expires?: string; token?: string; signature?: string }
}>

/**
 * Files of sandboxes as they are, up to 2 GB: `GET` and `PUT /sandbox-files/{id}` for a caller with a signed link, and
 * `/sandboxes/{id}/files/content` below the base path for a caller with a token that could get one.
 */
export function registerSandboxFiles(app: FastifyInstance, services: Services, dispatch: Dispatch): void {
  registerFiles(app, { prefix: '/sandbox-files', url: '/:id' }, async (method, request, reply) => {
    const path = await checkLink(services, method, request)
    return carry[method](services, request.params.id, path, request, reply)
  })
  const below = { prefix: `${basePath}/sandboxes`, url: '/:id/files/content' }
  registerFiles(app, below, async (method, request, reply) => {
    const { status, headers, body } = await askForLink(dispatch, method, request)
    if (status !== 200) return reply.code(status).headers(headers).send(body)
    return carry[method](services, request.params.id, request.query.path!, request, reply)
  })
}

function registerFiles(
  app: FastifyInstance,
  { prefix, url }: { prefix: string; url: string },
  handle: (method: 'GET' | 'PUT', request: FileRequest, reply: FastifyReply) => Promise<unknown>,
): void {
  app.register(
    async (scope) => {
      await allowBrowsers(scope)
      // Whatever it is called: the bytes go on as they come.
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
      for (const method of ['GET', 'PUT'] as const)
        scope.route({
          method,
          url,
          bodyLimit: LARGEST_FILE_BYTES,
          exposeHeadRoute: false,
          config: { onMachines: true },
          handler: (request: FileRequest, reply) => handle(method, request, reply),
        })
    },
    { prefix },
  )
}

async function checkLink(
  services: Services,
  method: 'GET' | 'PUT',
  { params, query }: FileRequest,
): Promise<string> {
  const { path = '', expires = '', token: tokenId = '', signature = '' } = query
  const expiresAt = new Date(Number(expires || Number.NaN))
  const link = { method, sandboxId: params.id, path, expiresAt, tokenId }
  if (await isGoodLink(services, link, signature)) return path
  throw new OperationError('link_invalid', 'The link has expired, or is for something else', {
    nextSteps: [
      {
        tool: method === 'GET' ? 'get_download_url' : 'get_upload_url',
        why: 'Get a new link, with a token',
        arguments: { sandbox_id: params.id, path },
      },
    ],
  })
}

/** All that is checked for a link is checked for the bytes themselves, in the same order. */
const askForLink = (
  dispatch: Dispatch,
  method: 'GET' | 'PUT',
  { headers, ip, params, query, id }: FileRequest,
) =>
  dispatch(method === 'GET' ? 'getDownloadUrl' : 'getUploadUrl', {
    token: bearerToken(headers.authorization),
    address: ip,
    idempotencyKey: undefined,
    resourceId: params.id,
    input: () => ({ ...query, sandbox_id: params.id }),
    requestId: id,
    asTool: false,
  })

async function upload(
  services: Services,
  id: string,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  if (Number(request.headers['content-length'] ?? 0) > LARGEST_FILE_BYTES) throw tooLarge()
  // An upload that is refused half-way leaves the request as it is, so that it can be answered.
  const source = request.raw.iterator({ destroyOnReturn: false })
  try {
    return await reply.send({ path, size: await uploadFile(services, id, path, source) })
  } catch (error) {
    if (!request.raw.errored) throw error
    // The client is gone and cannot be answered.
    reply.hijack()
    return reply
  }
}

async function download(
  services: Services,
  id: string,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const wanted = request.headers.range
  try {
    await downloadFile(
      services,
      id,
      path,
      wanted ? (size) => parseRange(wanted, size) : undefined,
      (file) => {
        reply.hijack()
        const { size, range } = file
        reply.raw.writeHead(range ? 206 : 200, {
          ...headersSoFar(reply),
          'content-type': 'application/octet-stream',
          'content-length': range ? range.end - range.start + 1 : size,
          'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(basename(path))}`,
          'accept-ranges': 'bytes',
          ...(range && { 'content-range': `bytes ${range.start}-${range.end}/${size}` }),
          'cache-control': 'no-store',
          'content-security-policy': 'sandbox',
        })
        return reply.raw
      },
    )
  } catch (error) {
    if (!reply.raw.headersSent) throw error
    // Half of it is with the client already: that it is cut is all that can be said.
    services.log.info({ err: inWords(error, id), sandbox: id }, 'A download broke')
    reply.raw.destroy()
  }
  return reply
}

const carry = { GET: download, PUT: upload }

/** RFC 9110, 14.1.2: one range; what cannot be satisfied is as if it had not been asked for. */
export function parseRange(header: string, size: number): ByteRange | undefined {
  const match = /^bytes=(\d{0,16})-(\d{0,16})$/.exec(header)
  if (!match || (match[1] === '' && match[2] === '')) return undefined
  const start = match[1] === '' ? Math.max(0, size - Number(match[2])) : Number(match[1])
  const end = match[1] === '' || match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1)
  return start <= end ? { start, end } : undefined
}
