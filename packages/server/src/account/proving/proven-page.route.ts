import { provingScript } from '@coinrack/web/proving/assets.ts'
import { problemPage, provingPage } from '@coinrack/web/proving/page.ts'
import { shellStyle } from '@coinrack/web/shell/assets.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { inTransaction, type Transaction } from '../../database/transaction.ts'
import { addressBlock } from '../../dispatch/address-block.ts'
import type { Dispatch } from '../../dispatch/dispatch.ts'
import type { RateLimiter } from '../../dispatch/rate-limiter.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { serveAssets } from '../../transport/serve-assets.ts'
import type { AccountRow } from '../account-store.ts'
import { PAGE_HEADERS } from './page-headers.ts'
import { dropProof, keepProof, readProof } from './proof-cookie.ts'
import { proveByCode, proveByWallet, readSignedMessage } from './prove-person.ts'
import { PageProblem, type PageRequest, type ProvenPage } from './proven-page.ts'

/**
 * Serves pages that stand behind the proof of who somebody is. Each has its own address; what its forms send goes to paths
 * below it: `/address` (send a code), `/code`, `/challenge` and `/signature` (the wallet), `/decision` (the page's own).
 */
export function registerProvenPages(
  app: FastifyInstance,
  services: Services,
  { dispatch, limiter }: { dispatch: Dispatch; limiter: RateLimiter },
  pages: readonly ProvenPage[],
): void {
  const demo = services.demo !== undefined
  serveAssets(app, shellStyle, provingScript)
  app.register(async (scope) => {
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      (_request, body, done) => done(null, new URLSearchParams(body as string)),
    )
    scope.addHook('onRequest', async (_request, reply) => void reply.headers(PAGE_HEADERS))
    scope.addHook('preHandler', async (request) => {
      if (request.method === 'POST') demandOwnPage(request, services.config.publicUrl)
    })
    scope.setErrorHandler((error, request, reply) => sendProblem(error, request, reply))
    for (const page of pages) serve(scope, page)
  })

  function serve(scope: FastifyInstance, page: ProvenPage): void {
    const prove = async (request: PageRequest, reply: FastifyReply, more: Partial<Asking> = {}) => {
      const intro = await page.intro(request, reply)
      const asking = { sentTo: undefined, problem: undefined, ...more }
      return reply.send(provingPage({ path: pathOf(page, request), demo, ...intro, ...asking }))
    }

    scope.get(page.url, async (request: PageRequest, reply) => {
      const person = readProof(services, request, pathOf(page, request))
      return person ? reply.send(await page.show(request, reply, person)) : prove(request, reply)
    })

    scope.post(`${page.url}/address`, async (request: PageRequest, reply) => {
      const email = field(request, 'email').trim()
      const answer = await dispatch('requestLoginCode', callOf(request, { email }))
      if (answer.status === 200) return prove(request, reply, { sentTo: email })
      // A code that was sent a moment ago is still good.
      const sentTo = answer.status === 429 ? email : undefined
      return prove(request, reply.code(answer.status), { sentTo, problem: `${answer.body.message}.` })
    })

    scope.post(`${page.url}/code`, async (request: PageRequest, reply) => {
      const [email, code] = [field(request, 'email'), field(request, 'code')]
      const client = addressBlock(request.ip)
      try {
        await limiter.take('login', undefined, request.ip)
        const account = await keepingTries(services, (tx) =>
          proveByCode(tx, services, { email, code, client }),
        )
        keepProof(services, reply, pathOf(page, request), account.id)
        return reply.redirect(pathOf(page, request), 303)
      } catch (error) {
        if (!(error instanceof OperationError)) throw error
        return prove(request, reply.code(error.status), { sentTo: email, problem: `${error.message}.` })
      }
    })

    scope.post(`${page.url}/challenge`, async (request: PageRequest, reply) => {
      await page.intro(request, reply)
      const chain = Number(field(request, 'chain'))
      const chainId = services.chains.find(({ settings }) => settings.chainId === chain)?.settings.chainId
      const input = {
        address: field(request, 'address'),
        ...(chainId === undefined ? {} : { chain_id: chainId }),
      }
      const { status, body } = await dispatch('requestWalletChallenge', callOf(request, input))
      return reply.code(status).type('application/json').send(body)
    })

    scope.post(`${page.url}/signature`, async (request: PageRequest, reply) => {
      await page.intro(request, reply)
      await limiter.take('login', undefined, request.ip)
      const given = { text: field(request, 'message'), signature: field(request, 'signature') }
      const signed = await readSignedMessage(services, given)
      const account = await inTransaction(services.db, (tx) => proveByWallet(tx, services, signed))
      keepProof(services, reply, pathOf(page, request), account.id)
      return reply.type('application/json').send({ ok: true })
    })

    scope.post(`${page.url}/decision`, async (request: PageRequest, reply) => {
      const path = pathOf(page, request)
      const person = readProof(services, request, path)
      if (!person) {
        const problem = 'Ten minutes have passed. Please log in again; nothing was decided.'
        return prove(request, reply.code(403), { problem })
      }
      const answer = await page.act(request, reply, person, formOf(request))
      dropProof(services, reply, path)
      return reply.send(answer)
    })
  }

  function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply) {
    const isKnown = error instanceof PageProblem || error instanceof OperationError
    const { status, heading, text } = isKnown
      ? {
          status: error.status,
          heading: error instanceof PageProblem ? error.heading : 'This cannot be done',
          text: error instanceof PageProblem ? error.message : `${error.message}.`,
        }
      : { status: 500, heading: 'Something went wrong', text: 'Please load the page again in a moment.' }
    if (!isKnown) services.log.error({ err: error, requestId: request.id }, 'A page failed')
    reply.code(status)
    if (request.headers.accept === 'application/json')
      return reply.type('application/json').send({ message: text })
    return reply.send(problemPage(demo, heading, text))
  }
}

interface Asking {
  sentTo: string | undefined
  problem: string | undefined
}

const pathOf = ({ url }: ProvenPage, request: PageRequest) =>
  url.replace(':id', encodeURIComponent(request.params.id))

const formOf = ({ body }: FastifyRequest) => (body instanceof URLSearchParams ? body : new URLSearchParams())

const field = (request: FastifyRequest, name: string) => (formOf(request).get(name) ?? '').slice(0, 5000)

/** A public operation, called for a page. */
const callOf = (request: FastifyRequest, input: Record<string, unknown>) => ({
  token: undefined,
  address: request.ip,
  idempotencyKey: undefined,
  resourceId: undefined,
  input: () => input,
  requestId: request.id,
  asTool: false,
})

/**
 * Browsers say from which page a form comes: from one of this service, or it is not looked at.
 * https://cheatsheetseries.owasp.org/cheatsheets/Cross-Site_Request_Forgery_Prevention_Cheat_Sheet.html
 */
function demandOwnPage({ headers }: FastifyRequest, publicUrl: string): void {
  if (headers.origin === new URL(publicUrl).origin) return
  throw new PageProblem(
    403,
    'This form comes from elsewhere',
    `Forms are taken from pages at ${publicUrl} alone. Please open the page there.`,
  )
}

/** A wrong code counts as a try: that is committed although it is refused. */
async function keepingTries(
  services: Services,
  work: (tx: Transaction) => Promise<AccountRow>,
): Promise<AccountRow> {
  const done = await inTransaction(services.db, async (tx) => {
    try {
      return { account: await work(tx) }
    } catch (error) {
      if (!(error instanceof OperationError && error.options.keepEffects)) throw error
      return { error }
    }
  })
  if ('error' in done) throw done.error
  return done.account
}
