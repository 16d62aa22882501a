import { basePath, operationList, operations, pathAtOrigin } from '@coinrack/contract/index.ts'
import { toolName } from '@coinrack/contract/operation.ts'
import type { FastifyInstance } from 'fastify'
import type { Services } from '../platform/services.ts'
import { docsPage, llmsText } from './docs.ts'
import { allowBrowsers } from './for-browsers.ts'
import { openapi } from './openapi.ts'
import { answerUnchanged } from './unchanged.ts'

/** Documents about the service, for people and programs, and the key of receipts. */
export function registerDocuments(app: FastifyInstance, services: Services): void {
  const { publicUrl } = services.config
  app.register(async (scope) => {
    await answerUnchanged(scope)
    const docs = docsPage(publicUrl)
    scope.get('/docs', async (_request, reply) =>
      reply
        .type('text/html; charset=utf-8')
        .header(
          'content-security-policy',
          "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'none'",
        )
        .send(docs),
    )
    const llms = llmsText(publicUrl)
    scope.get('/llms.txt', async (_request, reply) => reply.type('text/plain; charset=utf-8').send(llms))
  })
  app.register(
    async (scope) => {
      await allowBrowsers(scope)
      await answerUnchanged(scope)
      scope.get('/mcp.json', async () => ({
        name: 'coinrack',
        description: 'Virtual servers, prepaid in stablecoins, without identity check',
        url: `${publicUrl}/mcp`,
        transport: 'streamable-http',
      }))
      scope.get('/x402', async () => ({
        x402Version: 2,
        resources: operationList
          .filter(([, op]) => op.x402)
          .map(([name, op]) => ({
            url: publicUrl + pathAtOrigin(op),
            method: op.method,
            tool: toolName(name),
            description: op.description,
            account: op.access !== 'public',
            schemes: ['exact'],
            networks: services.chains
              .filter(({ gasWallet }) => gasWallet)
              .map(({ settings }) => `eip155:${settings.chainId}`),
          })),
        login: publicUrl + pathAtOrigin(operations.requestWalletChallenge),
        openapi: `${publicUrl}${basePath}/openapi.json`,
      }))
      // RFC 7517: the key that receipts are signed with.
      scope.get('/jwks.json', async () => ({ keys: [services.receiptKey.publicJwk] }))
    },
    { prefix: '/.well-known' },
  )
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
