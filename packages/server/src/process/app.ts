import { basePath, walletPath } from '@coinrack/contract/index.ts'
import type { FastifyInstance } from 'fastify'
import { authenticate } from '../account/authenticate.ts'
import { createAuthorizationServer } from '../account/oauth/authorization-server.ts'
import { consentPageOf } from '../account/oauth/consent-page.ts'
import { registerOauth } from '../account/oauth/oauth.route.ts'
import { challenge } from '../account/oauth/resource.ts'
import { registerProvenPages } from '../account/proving/proven-page.route.ts'
import { approvalPage } from '../approvals/approval-page.ts'
import { shareOf } from '../database/pool.ts'
import { callingByName } from '../dispatch/call-by-name.ts'
import { createDispatch } from '../dispatch/dispatch.ts'
import { createRateLimiter } from '../dispatch/rate-limiter.ts'
import { registerEventStream } from '../events/event-stream.route.ts'
import { registerCheckout } from '../payments/checkout/checkout.route.ts'
import type { Services } from '../platform/services.ts'
import { createSlots } from '../platform/slots.ts'
import { registerE2b } from '../sandboxes/e2b/e2b.route.ts'
import { registerSandboxFiles } from '../sandboxes/files/sandbox-files.route.ts'
import { registerPreviews } from '../sandboxes/ports/previews.route.ts'
import { registerTemplateUploads } from '../sandboxes/templates/template-uploads.route.ts'
import { registerContentNegotiation } from '../transport/content-negotiation.ts'
import { registerDocuments, registerOpenapi } from '../transport/documents/documents.ts'
import { allowBrowsers } from '../transport/for-browsers.ts'
import { lingerAfterAnswers } from '../transport/lingering-close.ts'
import { registerMcp } from '../transport/mcp/register-mcp.ts'
import { proxyToLeader } from '../transport/proxy-to-leader.ts'
import { believeReplicas } from '../transport/replica-link.ts'
import { registerRest } from '../transport/rest.ts'
import { createServer, nothingAt } from '../transport/server.ts'
import { endSlowBodies } from '../transport/slow-bodies.ts'
import { registerUpgrades, type Upgrade } from '../transport/upgrades.ts'
import { registerConsole } from '../vps/console/console.route.ts'
import { handlers, paidHandlers } from './handlers.ts'
import { type Metrics, measured } from './metrics.ts'
import { registerOtherRoutes } from './other-routes.ts'
import type { Readiness } from './readiness.ts'

/** How many connections to the database those without a token have together, and how long one waits for one of them. */
const STRANGERS = { most: 6, waitMs: 2_000 }
/** The same for looking up tokens and other secrets that are not known to be good. */
const LOOKUPS = { most: 4, waitMs: 2_000 }

/** The caller who presents a token. */
export const callerOf = async (services: Services, token: string) =>
  (await authenticate(services, token))?.caller

/** The whole HTTP face of the service, not listening yet. */
export function createApp(services: Services, readiness: Readiness, metrics: Metrics): FastifyInstance {
  const shared = shareOf(services.db, createSlots(STRANGERS))
  const lookups = shareOf(services.db, createSlots(LOOKUPS))
  const strangers = { db: shared, lookups, limiter: createRateLimiter({ ...services, db: shared }) }
  const dispatch = callingByName(
    measured(
      createDispatch(services, { handlers, paidHandlers }, createRateLimiter(services), strangers),
      metrics,
    ),
  )
  const upgrades: Upgrade[] = []
  const app = createServer(services, upgrades)
  believeReplicas(app)
  endSlowBodies(app, services)
  lingerAfterAnswers(app)
  const passOn = proxyToLeader(app, services, lookups)
  registerEventStream(app, services, { dispatch, callerOf })
  registerContentNegotiation(app, dispatch)
  app.register(
    async (scope) => {
      await allowBrowsers(scope)
      scope.setNotFoundHandler((request) => {
        throw nothingAt(request)
      })
      await registerRest(scope, dispatch)
      await registerOpenapi(scope, services)
    },
    { prefix: basePath },
  )
  app.register(
    async (scope) => {
      await allowBrowsers(scope)
      scope.setNotFoundHandler((request) => {
        throw nothingAt(request)
      })
      await registerRest(scope, dispatch, walletPath)
    },
    { prefix: walletPath },
  )
  registerDocuments(app, services)
  registerMcp(app, services, dispatch, {
    challenge: (isPresented) => challenge(services.config, isPresented),
    async isGrant(token, address) {
      if (token === undefined) return false
      const caller = await callerOf(Object.create(services, { db: { value: lookups } }), token)
      if (!caller) await strangers.limiter.takeBadToken(address)
      return caller?.kind === 'grant'
    },
  })
  registerOtherRoutes(app, services, { readiness })
  const forStrangers: Services = Object.create(services, { db: { value: shared } })
  registerCheckout(app, forStrangers, strangers.limiter)
  const provider = createAuthorizationServer(forStrangers)
  registerOauth(app, forStrangers, strangers.limiter, provider)
  registerProvenPages(app, forStrangers, { dispatch, limiter: strangers.limiter }, [
    consentPageOf(forStrangers, provider),
    approvalPage(services),
  ])
  registerSandboxFiles(app, services, dispatch)
  registerE2b(app, services, { dispatch, callerOf, lookups })
  registerTemplateUploads(app, services)
  upgrades.push(
    registerConsole(app, services, lookups, passOn),
    passOn,
    registerPreviews(app, services, lookups),
  )
  registerUpgrades(app, services, upgrades)
  return app
}
