import type { ServerResponse } from 'node:http'
import { basePath } from '@coinrack/contract/index.ts'
import type { FastifyInstance } from 'fastify'
import type { Dispatch } from '../dispatch/dispatch.ts'
import { failureAnswer } from '../dispatch/failure-answer.ts'
import type { Caller } from '../dispatch/handler.ts'
import { OperationError } from '../platform/errors.ts'
import type { Services } from '../platform/services.ts'
import { countStreams } from '../transport/count-streams.ts'
import { bearerToken } from '../transport/rest.ts'
import {
  beginEvents,
  eventText,
  goneOf,
  HEARTBEAT,
  HEARTBEAT_MS,
  writeEvent,
} from '../transport/write-events.ts'
import { type EventView, eventsAfter, eventsOf, lastPosition } from './event-store.ts'
import { numberEvents } from './number-events.ts'

const PAGE = 100
/** How often a stream checks that its token still holds, and looks for events that it was not notified of. */
const LOOK_MS = 2_000
const MOST_STREAMS = 10
const RECONNECT_MS = 2_000

/** The caller who presents a token now; undefined when the token no longer holds. */
type CallerOf = (services: Services, token: string) => Promise<Caller | undefined>

/**
 * `GET /events` of a client that accepts `text/event-stream`: Server-Sent Events from now on, or after `Last-Event-ID`
 * (or `?cursor=`). The answer to anybody else is the operation's own.
 */
export function registerEventStream(
  app: FastifyInstance,
  services: Services,
  { dispatch, callerOf }: { dispatch: Dispatch; callerOf: CallerOf },
  { heartbeatMs = HEARTBEAT_MS } = {},
): void {
  const takeStream = countStreams(MOST_STREAMS, { of: 'account', retryAfter: HEARTBEAT_MS / 1000 })
  const end = new AbortController()
  app.addHook('preClose', async () => end.abort())

  app.addHook('preHandler', async (request, reply) => {
    const isStream = request.headers.accept?.includes('text/event-stream')
    if (!isStream || request.method !== 'GET' || request.routeOptions.url !== `${basePath}/events`) return
    const token = bearerToken(request.headers.authorization)
    const from = request.headers['last-event-id'] ?? (request.query as { cursor?: string }).cursor
    // Everything that the operation checks, a stream is checked for, in the same order.
    const { status, body, headers } = await dispatch('listEvents', {
      token,
      address: request.ip,
      idempotencyKey: undefined,
      resourceId: undefined,
      input: () => ({ limit: 1, ...(from === undefined ? {} : { cursor: from }) }),
      requestId: request.id,
      asTool: false,
    })
    const caller = status === 200 && (await callerOf(services, token!))
    if (status !== 200) return reply.code(status).headers(headers).send(body)
    if (!caller) {
      // Revoked since the operation was asked.
      const gone = new OperationError('unauthorized', 'The token was revoked')
      const refusal = failureAnswer(services, gone, request.id)
      return reply.code(refusal.status).headers(refusal.headers).send(refusal.body)
    }
    const { accountId } = caller
    let giveBack: () => void
    try {
      giveBack = takeStream(accountId)
    } catch (error) {
      const refusal = failureAnswer(services, error, request.id)
      return reply.code(refusal.status).headers(refusal.headers).send(refusal.body)
    }

    // Kept for another request, the connection would hold up the end of the service.
    const out = beginEvents(reply, { ...headers, connection: 'close' })
    try {
      await follow(services, out, {
        callerOf,
        token: token!,
        accountId,
        from,
        end: goneOf(request, end.signal),
        heartbeatMs,
      })
    } catch (error) {
      services.log.error({ err: error, requestId: request.id }, 'A stream of events broke')
    } finally {
      out.end()
      giveBack()
    }
    return reply
  })
}

interface Following {
  callerOf: CallerOf
  token: string
  accountId: string
  from: string | string[] | undefined
  end: AbortSignal
  heartbeatMs: number
}

/** Writes events as they get their numbers, until the client is gone or its token no longer holds. */
async function follow(services: Services, out: ServerResponse, following: Following): Promise<void> {
  const { callerOf, token, accountId, from, end, heartbeatMs } = following
  const { db, changes } = services
  if (from === undefined) await numberEvents(services)
  let position = from === undefined ? await lastPosition(db, accountId) : Number(from)
  // A client that has to connect again before the first event resumes from here.
  if (!(await writeEvent(out, `retry: ${RECONNECT_MS}\nid: ${position}\n\n`, end))) return
  const aborted = new Promise<false>((resolve) => {
    end.addEventListener('abort', () => resolve(false), { once: true })
  })
  let spokenAt = performance.now()
  while (!end.aborted) {
    // Listening begins before the read, so that what is numbered between the two is not missed.
    const changed = changes.wait(eventsOf(accountId), Math.min(LOOK_MS, heartbeatMs))
    const caller = await callerOf(services, token)
    if (!caller || caller.suspended || !caller.scopes.includes('read')) return
    const events = await eventsAfter(db, accountId, position, PAGE)
    const isSilent = performance.now() - spokenAt >= heartbeatMs
    const text = events.length > 0 ? events.map(textOf).join('') : isSilent ? HEARTBEAT : ''
    if (text !== '') {
      if (!(await writeEvent(out, text, end))) return
      spokenAt = performance.now()
      position = events.at(-1)?.position ?? position
    }
    if (events.length < PAGE && !(await Promise.race([changed, aborted]))) return
  }
}

const textOf = (event: EventView) => eventText(event.type, event, event.position)
