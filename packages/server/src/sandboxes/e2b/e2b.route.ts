import cors from '@fastify/cors'
import type { FastifyError, FastifyInstance } from 'fastify'
import type pg from 'pg'
import type { Dispatch } from '../../dispatch/dispatch.ts'
import type { Caller } from '../../dispatch/handler.ts'
import type { Services } from '../../platform/services.ts'
import { E2B_PATH } from '../../transport/preview-address.ts'
import { knownError } from '../../transport/server.ts'
import { shownState } from '../life/sandbox-view.ts'
import { registerControl } from './control.ts'
import { enter } from './enter.ts'
import { registerFileBytes } from './file-bytes.ts'
import { registerFilesystem } from './filesystem.ts'
import { registerInterpreter } from './interpreter.ts'
import { registerProcesses } from './processes.ts'
import { refusalBody, refusalOf } from './refusals.ts'
import { registerTemplates } from './templates.ts'

interface E2bWorld {
  dispatch: Dispatch
  callerOf(services: Services, token: string): Promise<Caller | undefined>
  /** The share of the database in which it is looked up whether links are good. */
  lookups: pg.Pool
}

const DAY_S = 86_400

/**
 * What E2B's packages ask for, unmodified: of the service, and of the inside of sandboxes. All of it is below one path, at
 * which a header names the sandbox, and below the names that `preview-address.ts` leads here.
 */
export function registerE2b(
  app: FastifyInstance,
  services: Services,
  { dispatch, callerOf, lookups }: E2bWorld,
): void {
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())
  app.register(
    async (scope) => {
      // Clients in browsers send headers of many names, and no cookies.
      await scope.register(cors, { origin: '*', exposedHeaders: '*', maxAge: DAY_S, strictPreflight: false })
      readBodies(scope)
      scope.setErrorHandler<FastifyError>((error, request, reply) => {
        const said = knownError(error, request.routeOptions.bodyLimit)
        const { status, message, headers } = refusalOf(services, said, request.id)
        return reply.code(status).headers(headers).send(refusalBody({ status, message }))
      })
      const world = { services, lookups, closing: closing.signal }
      scope.get('/health', { config: { onMachines: true } }, async (request, reply) => {
        const { row } = await enter(world, request, { inside: true, traffic: true })
        const state = shownState(row)
        if (state === 'running') return reply.code(204).send()
        return reply.code(502).send(refusalBody({ status: 502, message: `The sandbox is ${state}` }))
      })
      registerProcesses(scope, world)
      registerFilesystem(scope, world)
      registerFileBytes(scope, world)
      registerInterpreter(scope, world)
      registerControl(scope, { services, dispatch, callerOf })
      registerTemplates(scope, { services, dispatch, callerOf })
    },
    { prefix: E2B_PATH },
  )
}

/** JSON stays text, a message of a stream stays bytes, and anything else is not read: it goes on as it comes. */
function readBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) =>
    done(null, body),
  )
  scope.addContentTypeParser('application/connect+json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )
  scope.addContentTypeParser('*', (_request, _body, done) => done(null))
}
