import type { FastifyInstance } from 'fastify'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { type Asker, type ControlWorld, createServe, read } from './asker.ts'
import { decoded, isTemplate, networkInput, sandboxInput, secondsOf } from './new-sandbox.ts'
import { NotServed, refusalBody } from './refusals.ts'
import { Connecting, Forking, NetworkRules, NewSandbox, NewSnapshot, NewTimeout, Pausing } from './shapes.ts'
import { findTemplate } from './templates.ts'
import { accessView, fullView, listedView, sampleView, type WireSample, type WireSandbox } from './views.ts'

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
  const serve = createServe(scope, world)

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

  scope.all('/*', async ({ url, method }) => {
    const path = url.split('?')[0]!.slice(0, 200)
    if (/\/templates(\/|$)/.test(path))
      throw new NotServed(
        `${method} ${path} is not offered here: a template is the state of its last build, without tags`,
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

/** The input with the id of a snapshot, where one is named and no template has that name. */
async function named(asker: Asker, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  const name = String(input.template)
  if (isTemplate(name) || (await findTemplate(asker, name))) return input
  const { items } = await asker.ask('listSandboxSnapshots', { limit: MOST_LISTED })
  const found = (items as Snapshot[]).find((each) => each.name === name && each.status === 'ready')
  return found ? { ...input, template: found.id } : input
}

const snapshotView = ({ id, name }: Snapshot) => ({ snapshotID: id, names: [name] })
