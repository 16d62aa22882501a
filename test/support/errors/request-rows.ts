import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer } from '@coinrack/server/transport/server.ts'
import { endSlowBodies } from '@coinrack/server/transport/slow-bodies.ts'
import type { Answer, Row } from './walk.ts'
import type { ErrorWorld } from './world.ts'

const SLOW_MS = 300

/** Requests as such, whatever they ask for; and the service, when it cannot do anything. */
export function requestRows({ service, buyer }: ErrorWorld) {
  /** A write that fails in the middle, as its database does with this code; then it works again. */
  const failing = (code: string | undefined) => async () => {
    const who = await buyer()
    const { newId } = service.services
    service.services.newId = (kind) => {
      if (kind === 'hold') throw Object.assign(new Error('scripted'), { code })
      return newId(kind)
    }
    return {
      call: () => who.ask('POST', '/orders', { product: 'nano', os_id: 1 }),
      meanwhile: () => {
        service.services.newId = newId
      },
    }
  }
  const inFolder = (who: { vps(): Promise<string> }) => who.vps()

  return {
    malformed_json: async () => {
      const who = await buyer()
      return {
        call: () => who.ask('POST', '/tickets', '{"subject": '),
        further: () => who.ask('POST', '/tickets', { subject: 'a', body: 'b' }),
      }
    },
    invalid_input: async () => {
      const who = await buyer()
      return {
        call: () => who.call('order_vps', { product: 'nano' }),
        further: () => who.call('order_vps', { product: 'nano', os_id: 1 }),
      }
    },
    not_found: async () => {
      const who = await buyer()
      await who.vps()
      let service_id = 'vps_none'
      return {
        call: () => who.call('get_vps_status', { service_id }),
        take: async (tool, input) => {
          const answer = await who.call(tool, input)
          service_id = answer.body.items[0].id
          return answer
        },
      }
    },
    unknown_operation: async () => {
      const who = await buyer()
      return {
        call: () => who.call('call_operation', { name: 'get_balanse', arguments: {} }),
        take: who.call,
        fill: { find_operations: { query: 'balance' } },
        further: () => who.call('call_operation', { name: 'get_balance', arguments: {} }),
      }
    },
    not_owner: async () => {
      const [other, who] = [await buyer(), await buyer()]
      let service_id = await other.vps()
      await who.vps()
      return {
        call: () => who.call('get_vps_status', { service_id }),
        take: async (tool, input) => {
          const answer = await who.call(tool, input)
          service_id = answer.body.items[0].id
          return answer
        },
      }
    },
    method_not_allowed: async () => {
      const who = await buyer()
      return { call: () => who.ask('PUT', '/balance', {}), further: () => who.ask('GET', '/balance') }
    },
    request_too_slow: async () => {
      const app = createServer(service.services, [], { headersMs: SLOW_MS })
      endSlowBodies(app, service.services, { firstMs: SLOW_MS, lookMs: 50 })
      app.post('/', async (request) => ({ length: (request.body as string).length }))
      const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
      const send = async (pieces: string[]): Promise<Answer> => {
        const socket = connect(Number(port), '127.0.0.1')
        let heard = ''
        socket.on('data', (data) => (heard += data)).on('error', () => {})
        const closed = once(socket, 'close')
        for (const piece of pieces) socket.write(piece)
        await Promise.race([closed, sleep(10 * SLOW_MS)])
        socket.destroy()
        return {
          status: Number(heard.split(' ')[1]),
          body: JSON.parse(heard.slice(heard.indexOf('\r\n\r\n') + 4)),
        }
      }
      const head =
        'POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n'
      return {
        call: () => send([head, 'x']),
        further: async () => {
          const answer = await send([head, 'x'.repeat(20)])
          await app.close()
          return answer
        },
      }
    },
    body_too_large: async () => {
      const who = await buyer()
      const send = (length: number) => who.ask('POST', '/tickets', { subject: 'a', body: 'b'.repeat(length) })
      return { call: () => send(1024 * 1024), further: () => send(1000) }
    },
    unsupported_media_type: async () => {
      const who = await buyer()
      const send = (type: string) =>
        who.ask('POST', '/tickets', JSON.stringify({ subject: 'a', body: 'b' }), { 'content-type': type })
      return { call: () => send('text/plain'), further: () => send('application/json') }
    },
    idempotency_running: async () => {
      const who = await buyer()
      const path = `/services/${await inFolder(who)}/exec`
      const run = () => who.ask('POST', path, { command: 'sleep 1' }, { 'idempotency-key': 'one' })
      const first = run()
      await sleep(300)
      return { call: run, meanwhile: () => first }
    },
    answer_not_kept: async () => {
      const who = await buyer()
      const path = `/services/${await inFolder(who)}/exec`
      const run = (key: string) =>
        who.ask('POST', path, { command: `head -c 70000 /dev/zero | tr '\\0' x` }, { 'idempotency-key': key })
      await run('one')
      return { call: () => run('one'), further: () => run('another') }
    },
    idempotency_key_reused: async () => {
      const who = await buyer()
      const name = (first_name: string, key: string) =>
        who.ask('PATCH', '/account', { first_name }, { 'idempotency-key': key })
      await name('Ada', 'one')
      return { call: () => name('Eve', 'one'), further: () => name('Eve', 'two') }
    },
    internal: failing(undefined),
    overloaded: failing('57014'),
    unavailable: failing('57P01'),
    storage_full: failing('53100'),
  } satisfies Record<string, Row>
}
