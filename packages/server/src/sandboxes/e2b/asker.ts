import type { OperationName } from '@coinrack/contract/index.ts'
import type { ErrorBody } from '@coinrack/contract/wire.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Answer, Dispatch } from '../../dispatch/dispatch.ts'
import type { Caller } from '../../dispatch/handler.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { bearerToken } from '../../transport/rest.ts'
import { accessText } from './access.ts'
import { Refused, toldRefusal } from './refusals.ts'
import { readJson } from './shapes.ts'
import { isThere, type WireSandbox } from './views.ts'

export interface ControlWorld {
  services: Services
  dispatch: Dispatch
  callerOf(services: Services, token: string): Promise<Caller | undefined>
}

export type Asked = FastifyRequest<{
  Params: { id: string }
  Querystring: Record<string, string | undefined>
}>

/** Adds routes whose handlers ask operations on behalf of the client. */
export const createServe =
  (scope: FastifyInstance, world: ControlWorld) =>
  (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    urls: readonly string[],
    handle: (asker: Asker, request: Asked, reply: FastifyReply) => Promise<unknown>,
  ) => {
    for (const url of urls)
      scope.route({
        method,
        url,
        config: { onMachines: true },
        handler: (request: Asked, reply) => handle(createAsker(world, request, reply), request, reply),
      })
  }

/** The bodies of the routes are texts. */
export const read = <T extends z.ZodType>(shape: T, { body }: FastifyRequest): z.output<T> =>
  readJson(shape, typeof body === 'string' ? body : '')

export type Asker = ReturnType<typeof createAsker>

/** Asks operations on behalf of the client that has sent a request. */
function createAsker({ services, dispatch, callerOf }: ControlWorld, request: Asked, reply: FastifyReply) {
  const { headers, ip, id: requestId, params } = request
  const key = headers['x-api-key']
  const token = typeof key === 'string' ? key : bearerToken(headers.authorization)
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())

  const call = async (name: OperationName, input: object, resourceId?: unknown): Promise<Answer> => {
    const answer = await dispatch(name, {
      token,
      address: ip,
      idempotencyKey: undefined,
      resourceId,
      input: () => ({ ...input }),
      requestId,
      asTool: false,
      hungUp: gone.signal,
    })
    for (const [name, value] of Object.entries(answer.headers))
      if (name !== 'www-authenticate') reply.header(name, value)
    return answer
  }

  const asker = {
    /** Aborted when the client hangs up. */
    gone: gone.signal,
    /** @throws Refused */
    async ask(name: OperationName, input: Record<string, unknown>, resourceId?: unknown) {
      const { status, body, headers: said } = await call(name, input, resourceId ?? input.sandbox_id)
      if (status !== 200) throw new Refused(toldRefusal(services, body as unknown as ErrorBody, said))
      return body as Record<string, unknown> & { id: string }
    },
    /** Asks something of the sandbox in the path. @throws Refused */
    askOf: (name: OperationName, input: object = {}) => asker.ask(name, { sandbox_id: params.id, ...input }),
    /** The same, of which a refusal is an answer as well. */
    async tryOf(name: OperationName, input: object) {
      const { status, body, headers: said } = await call(name, { sandbox_id: params.id, ...input }, params.id)
      const refusal = status === 200 ? undefined : toldRefusal(services, body as unknown as ErrorBody, said)
      return { body, refusal }
    },
    /** The sandbox in the path. @throws Refused when it is over, as when there is none */
    async sandbox(): Promise<WireSandbox> {
      const sandbox = (await asker.askOf('getSandbox')) as unknown as WireSandbox
      if (isThere(sandbox)) return sandbox
      throw new OperationError('not_found', `Sandbox ${sandbox.id} has ended`)
    },
    /** The texts by which the client uses a sandbox. */
    async access(sandboxId: string) {
      const tokenId = (await callerOf(services, token!))!.tokenId
      return {
        inside: accessText(services, 'inside', { sandboxId, tokenId }),
        traffic: accessText(services, 'traffic', { sandboxId, tokenId }),
      }
    },
  }
  return asker
}
