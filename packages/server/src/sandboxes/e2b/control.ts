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
import { decoded, isTemplate, networkInput, sandboxInput, secondsOf } from './new-sandbox.ts'
import { NotServed, Refused, refusalBody, toldRefusal } from './refusals.ts'
import {
  Connecting,
  Forking,
  NetworkRules,
  NewSandbox,
  NewSnapshot,
  NewTimeout,
  Pausing,
  readJson,
} from './shapes.ts'
import {
  accessView,
  fullView,
  isThere,
  listedView,
  sampleView,
  type WireSample,
  type WireSandbox,
} from './views.ts'

export interface ControlWorld {
  services: Services
  dispatch: Dispatch
  callerOf(services: Services, token: string): Promise<Caller | undefined>
}

type Asked = FastifyRequest<{ Params: { id: string }; Querystring: Record<string, string | undefined> }>

/** Seconds of a sandbox for which a client names none: as E2B's service has them, by the path that is asked. */
const DEFAULT_SECONDS = { '/sandboxes': 15, '/v2/sandboxes': 300 } as const
const MOST_LISTED = 100
const MOST_FORKS = 10

/**
 * What E2B's clients ask of the service, each by the operations of the contract, so that rights, rates and money are what
 * they are everywhere. Earlier and later clients use other paths for the same.
 */
export function registerControl(scope: FastifyInstance, world: ControlWorld): void {
  const { services } = world
  const serve = (
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

  for (const url of ['/sandboxes', '/v2/sandboxes'] as const)
    serve('POST', [url], async (asker, request, reply) => {
      const asked = read(NewSandbox, request)
      const input = sandboxInput(asked, DEFAULT_SECONDS[url])
      const sandbox = await asker.ask('createSandbox', await named(asker, input))
      const access = asked.network?.allowPublicTraffic === false ? 'token' : 'public'
      await asker.ask('exposeAllPorts', { sandbox_id: sandbox.id, access })
      return reply
        .code(201)
        .send(accessView(services, sandbox as WireSandbox, await asker.access(sandbox.id)))
    })

  serve('GET', ['/sandboxes', '/v2/sandboxes'], async (asker, { query }, reply) => {
    const { metadata, state, limit, nextToken, ...others } = query
    const refused = ['template', 'startedAfter'].find((name) => others[name])
    if (refused || others.order === 'asc')
      throw new NotServed(`Lists are not chosen by ${refused ?? 'order'} here, and are newest first`)
    const states = new Set((state ?? '').split(',').filter(Boolean))
    const { items, next_cursor } = await asker.ask('listSandboxes', {
      limit: Math.min(Number(limit ?? MOST_LISTED), MOST_LISTED),
      ...(nextToken && { cursor: nextToken }),
      ...(states.size === 1 && { state: [...states][0] }),
      ...(metadata && { metadata: decoded(metadata) }),
    })
    if (typeof next_cursor === 'string') reply.header('x-next-token', next_cursor)
    return (items as WireSandbox[]).map(listedView)
  })

  serve('GET', ['/sandboxes/:id'], async (asker) => fullView(services, await asker.sandbox()))

  serve('DELETE', ['/sandboxes/:id'], async (asker, _request, reply) => {
    await asker.sandbox()
    await asker.askOf('killSandbox')
    return reply.code(204).send()
  })

  serve('POST', ['/sandboxes/:id/timeout'], async (asker, request, reply) => {
    await asker.sandbox()
    await asker.askOf('setSandboxTimeout', { timeout: secondsOf(read(NewTimeout, request).timeout) })
    return reply.code(204).send()
  })

  const connects = ['/sandboxes/:id/connect', '/v2/sandboxes/:id/connect', '/sandboxes/:id/resume']
  serve('POST', connects, async (asker, request, reply) => {
    const { timeout, memory } = read(Connecting, request)
    if (memory === false) throw new NotServed('A paused sandbox keeps its memory here (onResume: "reboot")')
    const seconds = timeout == null ? undefined : secondsOf(timeout)
    const sandbox = await asker.sandbox()
    const isPaused = sandbox.state === 'paused' || sandbox.state === 'resuming'
    if (isPaused) await asker.askOf('resumeSandbox', seconds === undefined ? {} : { timeout: seconds })
    else if (seconds !== undefined && endsBefore(services, sandbox, seconds))
      await asker.askOf('setSandboxTimeout', { timeout: seconds })
    return reply
      .code(isPaused ? 201 : 200)
      .send(accessView(services, sandbox, await asker.access(sandbox.id)))
  })

  serve('POST', ['/sandboxes/:id/pause'], async (asker, request, reply) => {
    if (read(Pausing, request).memory === false)
      throw new NotServed('A pause without memory (keepMemory: false) is not offered here')
    const { id, state } = await asker.sandbox()
    if (state === 'paused')
      return reply.code(409).send(refusalBody({ status: 409, message: `Sandbox ${id} is paused` }))
    await asker.askOf('pauseSandbox')
    return reply.code(204).send()
  })

  serve('POST', ['/sandboxes/:id/fork'], async (asker, request) => {
    const { timeout, count } = read(Forking, request)
    if ((count ?? 1) > MOST_FORKS) throw new NotServed(`More than ${MOST_FORKS} forks at once`)
    await asker.sandbox()
    const input = timeout == null ? {} : { timeout: secondsOf(timeout) }
    const forks: object[] = []
    for (let made = 0; made < (count ?? 1); made++) {
      const { body, refusal } = await asker.tryOf('forkSandbox', input)
      if (refusal) {
        forks.push({ error: refusalBody(refusal) })
        continue
      }
      await asker.ask('exposeAllPorts', { sandbox_id: body.id, access: 'public' })
      const sandbox = accessView(
        services,
        body as unknown as WireSandbox,
        await asker.access(String(body.id)),
      )
      forks.push({ sandbox })
    }
    return forks
  })

  serve('PUT', ['/sandboxes/:id/network'], async (asker, request, reply) => {
    await asker.sandbox()
    await asker.askOf('setSandboxNetwork', networkInput(read(NetworkRules, request)) ?? {})
    return reply.code(204).send()
  })

  serve('GET', ['/sandboxes/:id/metrics'], async (asker, { query }) => {
    const sandbox = await asker.sandbox()
    if (sandbox.state !== 'running') return []
    const { start = '0', end } = query
    const { samples } = await asker.askOf('getSandboxMetrics', {
      since: momentOf(start),
      ...(end !== undefined && { until: momentOf(end) }),
    })
    return (samples as WireSample[]).map(sampleView)
  })

  serve('POST', ['/sandboxes/:id/snapshots'], async (asker, request, reply) => {
    const { name } = read(NewSnapshot, request)
    await asker.sandbox()
    const { snapshot } = await asker.askOf('createSandboxSnapshot', name == null ? {} : { name })
    return reply.code(201).send(snapshotView(snapshot as Snapshot))
  })

  serve('GET', ['/snapshots'], async (asker, { query }, reply) => {
    const { items, next_cursor } = await asker.ask('listSandboxSnapshots', {
      limit: Math.min(Number(query.limit ?? MOST_LISTED), MOST_LISTED),
      ...(query.nextToken && { cursor: query.nextToken }),
    })
    if (typeof next_cursor === 'string') reply.header('x-next-token', next_cursor)
    return (items as Snapshot[])
      .filter(({ sandbox_id }) => query.sandboxID === undefined || sandbox_id === query.sandboxID)
      .filter(({ name }) => query.name === undefined || name === query.name)
      .map(snapshotView)
  })

  serve('DELETE', ['/templates/:id'], async (asker, { params }, reply) => {
    await asker.ask('deleteSandboxSnapshot', { snapshot_id: params.id }, params.id)
    return reply.code(204).send()
  })

  scope.all('/*', async ({ url, method }) => {
    const path = url.split('?')[0]!.slice(0, 200)
    if (/\/templates(\/|$)/.test(path))
      throw new NotServed(
        'Templates cannot be built here by this client: take a snapshot of a sandbox instead',
      )
    throw new OperationError('not_found', `${method} ${path} is not served to E2B's clients`)
  })
}

interface Snapshot {
  id: string
  sandbox_id: string
  name: string
  status: string
}

/** The bodies of the routes are texts. */
const read = <T extends z.ZodType>(shape: T, { body }: FastifyRequest): z.output<T> =>
  readJson(shape, typeof body === 'string' ? body : '')

/** Whether a sandbox would end before so many seconds are over: a connection makes its time longer, never shorter. */
const endsBefore = (services: Services, { expires_at }: WireSandbox, seconds: number) =>
  expires_at !== null && Date.parse(expires_at) < services.clock.now().getTime() + seconds * 1000

/** Seconds since 1970, as our operations take a moment. */
function momentOf(seconds: string): string {
  const at = new Date(Number(seconds) * 1000)
  if (Number.isNaN(at.getTime()))
    throw new OperationError('invalid_input', 'start and end are seconds since 1970')
  return at.toISOString()
}

/** The input with a template by its id, where it was named by the name of a snapshot. */
async function named(asker: Asker, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  const name = String(input.template)
  if (isTemplate(name)) return input
  const { items } = await asker.ask('listSandboxSnapshots', { limit: MOST_LISTED })
  const found = (items as Snapshot[]).find((each) => each.name === name && each.status === 'ready')
  return found ? { ...input, template: found.id } : input
}

const snapshotView = ({ id, name }: Snapshot) => ({ snapshotID: id, names: [name] })

type Asker = ReturnType<typeof createAsker>

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
