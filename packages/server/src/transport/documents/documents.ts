import type { FastifyInstance } from 'fastify'
import type { Services } from '../../platform/services.ts'
import { openapi } from '../openapi.ts'
import { answerUnchanged } from '../unchanged.ts'
import { aiCatalog, mediaTypes, serverCardPath } from './ai-catalog.ts'
import { docsPage } from './docs-page.ts'
import { llmsFullText, llmsText } from './llms.ts'
import { mcpJson, serverCard, serverJson } from './mcp-registry.ts'
import { paidResources } from './paid-resources.ts'
import { earlierSkillIndex, skill, skillIndex, skillIndexPaths, skillPaths } from './skill.ts'

/** A document about the service, made of the contract and the settings alone. */
interface Document {
  path: string
  type: string
  /** How long a client may take it as it was without asking; not at all when left out. */
  seconds?: number
  /** @returns undefined where there is none */
  write(services: Services): object | string | undefined
}

const JSON_TYPE = 'application/json; charset=utf-8'
const PLAIN = 'text/plain; charset=utf-8'
const MARKDOWN = 'text/markdown; charset=utf-8'
const HOUR_S = 3_600

/** All of them but the page for people, for whoever looks where such documents are looked for. */
export const documents: readonly Document[] = [
  { path: '/llms.txt', type: PLAIN, write: ({ config }) => llmsText(config.publicUrl) },
  { path: '/llms-full.txt', type: PLAIN, write: ({ config }) => llmsFullText(config.publicUrl) },
  { path: '/openapi.json', type: JSON_TYPE, write: ({ config }) => openapi(config.publicUrl) },
  { path: '/server.json', type: JSON_TYPE, write: ({ config }) => serverJson(config) },
  { path: '/.well-known/mcp.json', type: JSON_TYPE, write: ({ config }) => mcpJson(config) },
  {
    path: '/.well-known/mcp-registry-auth',
    type: PLAIN,
    write: ({ config }) => config.mcpRegistryAuth,
  },
  {
    path: serverCardPath,
    type: mediaTypes.serverCard,
    seconds: HOUR_S,
    write: ({ config }) => serverCard(config),
  },
  {
    path: '/.well-known/ai-catalog.json',
    type: mediaTypes.catalog,
    seconds: HOUR_S,
    write: ({ config }) => aiCatalog(config),
  },
  ...skillPaths.map((path): Document => ({ path, type: MARKDOWN, write: ({ config }) => skill(config) })),
  { path: skillIndexPaths.now, type: JSON_TYPE, write: ({ config }) => skillIndex(config) },
  { path: skillIndexPaths.earlier, type: JSON_TYPE, write: ({ config }) => earlierSkillIndex(config) },
  { path: '/.well-known/x402', type: JSON_TYPE, write: paidResources },
  // RFC 7517: the key that receipts are signed with.
  {
    path: '/.well-known/jwks.json',
    type: JSON_TYPE,
    write: ({ receiptKey }) => ({ keys: [receiptKey.publicJwk] }),
  },
]

/** Pages of any origin may read documents: they are the same for everybody. */
const FOR_PAGES = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': 'Accept, Cache-Control, Content-Type, If-None-Match',
  'access-control-expose-headers': 'ETag',
}

/** Where the other descriptions of the service are, for who reads headers (RFC 8631). */
const LINKS = [
  '</openapi.json>; rel="service-desc"; type="application/json"',
  '</llms.txt>; rel="alternate"; type="text/plain"',
  '</.well-known/ai-catalog.json>; rel="ai-catalog"; type="application/ai-catalog+json"',
].join(', ')

/** The documents as routes, with the page for people. */
export function registerDocuments(app: FastifyInstance, services: Services): void {
  app.register(async (scope) => {
    await answerUnchanged(scope)
    const docs = docsPage(services.config.publicUrl)
    scope.get('/docs', async (_request, reply) =>
      reply
        .type('text/html; charset=utf-8')
        .header(
          'content-security-policy',
          "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'none'",
        )
        .header('link', LINKS)
        .send(docs),
    )
    for (const document of documents) serveDocument(scope, services, document)
  })
}

function serveDocument(scope: FastifyInstance, services: Services, { path, type, seconds, write }: Document) {
  const keep = seconds === undefined ? 'no-cache' : `public, max-age=${seconds}`
  scope.options(path, async (_request, reply) => reply.code(204).headers(FOR_PAGES).send())
  scope.get(path, async (_request, reply) => {
    const text = write(services)
    if (text === undefined) return reply.callNotFound()
    return (
      reply
        .headers({ ...FOR_PAGES, 'content-type': type, 'cache-control': keep })
        // As bytes, so that the type stays as it is declared.
        .send(Buffer.from(typeof text === 'string' ? text : JSON.stringify(text)))
    )
  })
}

/** The description of the REST interface, in the scope of which it lies. */
export async function registerOpenapi(scope: FastifyInstance, { config }: Services): Promise<void> {
  const document = openapi(config.publicUrl)
  await scope.register(async (reads) => {
    await answerUnchanged(reads)
    reads.get('/openapi.json', async (_request, reply) =>
      reply.header('cache-control', 'no-cache').send(document),
    )
  })
}
