import { posix } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { SandboxChannel } from '@coinrack/compute/ports/sandbox-channel.ts'
import { LARGEST_FILE_BYTES } from '@coinrack/contract/sandbox-files.ts'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { OperationError } from '../../platform/errors.ts'
import { headersSoFar } from '../../transport/for-browsers.ts'
import { atMost, limited } from '../files/carry-file.ts'
import { askSandbox } from '../tasks/ask-sandbox.ts'
import { type Entered, enter, enterByLink, type InsideWorld } from './enter.ts'
import { pathOf } from './entries.ts'
import { NotServed } from './refusals.ts'

type Asked = FastifyRequest<{
  Querystring: { path?: string; username?: string; signature?: string; signature_expiration?: string }
}>
type Files = SandboxChannel['files']

/** Parts of one upload. */
const MOST_FILES = 1_000

/** The bytes of files, out of sandboxes and into them: for who has the access text, or a link that was signed with it. */
export function registerFileBytes(scope: FastifyInstance, world: InsideWorld): void {
  const { services } = world
  const config = { onMachines: true }

  scope.get('/files', { config, exposeHeadRoute: false }, async (request: Asked, reply) => {
    const { id, row } = await entered(world, request, 'read')
    const path = pathOf(request.query.path ?? '')
    await askSandbox(services, id, row, async ({ files }) => {
      const { content, size } = await files.read(id, path, asUser(request))
      await send(reply, content, size)
    })
    return reply
  })

  scope.post('/files', { config, bodyLimit: LARGEST_FILE_BYTES }, async (request: Asked) => {
    const { id, row } = await entered(world, request, 'write')
    return askSandbox(services, id, row, async ({ files }) => {
      const write = (path: string, source: AsyncIterable<Uint8Array>) =>
        writeOne(files, id, pathOf(path), limited(source), asUser(request))
      return receive(request, write)
    })
  })
}

const asUser = ({ query }: Asked) => (query.username ? { user: query.username } : {})

function entered(world: InsideWorld, request: Asked, operation: 'read' | 'write'): Promise<Entered> {
  const { path = '', username, signature, signature_expiration: expiry } = request.query
  if (signature === undefined) return enter(world, request)
  const expiresAt = expiry === undefined ? undefined : Number(expiry)
  return enterByLink(world, request, { operation, path, user: username, expiresAt, signature })
}

async function send(reply: FastifyReply, content: Readable, size: number): Promise<void> {
  reply.hijack()
  reply.raw.writeHead(200, {
    ...headersSoFar(reply),
    'content-type': 'application/octet-stream',
    // Without it clients take an empty file for no answer.
    'content-length': size,
    'cache-control': 'no-store',
    'content-security-policy': 'sandbox',
  })
  // That it is cut is all that can be said once half of it is with the client.
  await pipeline(content, atMost(size), reply.raw).catch(() => reply.raw.destroy())
}

type Write = (path: string, source: AsyncIterable<Uint8Array>) => Promise<object>

/** All files of an upload: one that is the body itself, or those of a form. */
async function receive(request: Asked, write: Write): Promise<object[]> {
  const { headers, query, raw } = request
  const type = headers['content-type'] ?? ''
  const source = raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
  if (type.startsWith('multipart/form-data')) return receiveForm(request, source, write)
  if (!type.startsWith('application/octet-stream'))
    throw new NotServed(`Uploads of the type ${type.slice(0, 100)}`)
  if (query.path === undefined)
    throw new OperationError('invalid_input', 'path: Expected where the file is to be')
  return [await write(query.path, unpacked(source, headers['content-encoding']))]
}

function unpacked(
  source: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
): AsyncIterable<Uint8Array> {
  if (encoding === undefined || encoding === 'identity') return source
  if (encoding !== 'gzip') throw new NotServed(`Uploads in ${encoding.slice(0, 40)}`)
  const gunzip = createGunzip()
  pipeline(source, gunzip).catch(() => {})
  return gunzip
}

/** The files of a form, one after the other: the name of each is its path, unless the query says the only one's. */
async function receiveForm(
  { headers, query }: Asked,
  source: AsyncIterable<Uint8Array>,
  write: Write,
): Promise<object[]> {
  const form = new Busboy({
    headers: headers as BusboyHeaders,
    preservePath: true,
    limits: { files: MOST_FILES, fields: 0 },
  })
  const written: Promise<object>[] = []
  let last: Promise<unknown> = Promise.resolve()
  form.on('file', (_field, file, name) => {
    const path = query.path ?? name
    const one = last.then(() => {
      if (!path) throw new OperationError('invalid_input', 'A file of the form has no name')
      return write(path, file)
    })
    // What is refused is read to its end, so that the next part comes.
    last = one.catch(() => void file.resume())
    written.push(one)
    one.catch(() => {})
  })
  await pipeline(source, form).catch((cause) => {
    throw new OperationError('invalid_input', `The form cannot be read: ${(cause as Error).message}`)
  })
  if (written.length === 0) throw new OperationError('invalid_input', 'The form has no file')
  return Promise.all(written)
}

/** Writes one, and says where it is then. */
async function writeOne(
  files: Files,
  id: string,
  path: string,
  source: AsyncIterable<Uint8Array>,
  options: { user?: string },
): Promise<object> {
  await files.write(id, path, source, options)
  const { path: whole } = await files.stat(id, path, options)
  return { path: whole, name: posix.basename(whole), type: 'file' }
}
