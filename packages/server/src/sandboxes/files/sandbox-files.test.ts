import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { basePath } from '@coinrack/contract/index.ts'
import { freePort } from '@coinrack/host/free-port.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'
import { type Buyer, buyerOf } from '../life/testing.ts'
import { parseRange } from './sandbox-files.route.ts'

let service: TestService
let buyer: Buyer
let url: string
let id: string
beforeAll(async () => {
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  service = await startTestService({ env: { COINRACK_PUBLIC_URL: url } })
  await service.app.listen({ host: '127.0.0.1', port })
  buyer = await buyerOf(service)
  id = await buyer.sandbox({ timeout: 86_400, idle_timeout: 0 })
})
afterAll(() => service.close())

const MIB = 1024 * 1024
const piece = Buffer.alloc(MIB, 'abcdefg\n')

/** So many megabytes, never all in memory. */
const megabytes = (count: number) =>
  new ReadableStream({
    pull(controller) {
      if (count-- > 0) controller.enqueue(piece)
      else controller.close()
    },
  })
const link = async (what: 'upload' | 'download', path: string, more = {}) =>
  (await buyer.post(`/sandboxes/${id}/${what}-url`, { path, ...more })).body as { url: string }
const put = (to: string, body: BodyInit, headers = {}) =>
  fetch(to, { method: 'PUT', body, headers, duplex: 'half' } as RequestInit)
const sumOf = async (body: AsyncIterable<Uint8Array>) => {
  const hash = createHash('sha256')
  for await (const each of body) hash.update(each)
  return hash.digest('hex')
}

describe('by a link', () => {
  test('default: many megabytes in and out, without a token', async () => {
    const up = await put((await link('upload', 'big/file.bin')).url, megabytes(40))
    expect([up.status, await up.json()]).toEqual([200, { path: 'big/file.bin', size: 40 * MIB }])
    const down = await fetch((await link('download', 'big/file.bin')).url)
    expect(down.headers.get('content-length')).toBe(String(40 * MIB))
    expect(down.headers.get('content-disposition')).toContain('file.bin')
    expect(await sumOf(down.body!)).toBe(await sumOf(megabytes(40)))
  })

  test('default: a part of it', async () => {
    await put((await link('upload', 'small')).url, '0123456789')
    const part = async (range: string) => {
      const answer = await fetch((await link('download', 'small')).url, { headers: { range } })
      return [answer.status, answer.headers.get('content-range'), await answer.text()]
    }
    expect(await part('bytes=2-4')).toEqual([206, 'bytes 2-4/10', '234'])
    expect(await part('bytes=-3')).toEqual([206, 'bytes 7-9/10', '789'])
    expect(await part('bytes=20-')).toEqual([200, null, '0123456789'])
  })

  test('error: for another method, path, sandbox or time than it was signed for', async () => {
    const { url: up } = await link('upload', 'small')
    const { url: down } = await link('download', 'small', { expires_in: 60 })
    const codeOf = async (answer: Promise<Response>) => (await (await answer).json()).code
    const refused = 'link_invalid'
    expect(await codeOf(fetch(up))).toEqual(refused)
    expect(await codeOf(put(down, 'x'))).toEqual(refused)
    expect(await codeOf(fetch(down.replace('path=small', 'path=other')))).toEqual(refused)
    expect(await codeOf(fetch(down.replace(/expires=\d/, 'expires=9')))).toEqual(refused)
    expect(await codeOf(fetch(down.replace(id, `sbx${'0'.repeat(26)}`)))).toEqual(refused)
    expect(await codeOf(fetch(down.split('&signature')[0]!))).toEqual(refused)
    service.clock.advance(60_000)
    expect(await codeOf(fetch(down))).toEqual(refused)
    expect((await fetch((await link('download', 'small')).url)).status).toBe(200)
  })

  test('error: with the token that made it, and with its account, a link ends', async () => {
    await put((await link('upload', 'mine')).url, 'x')
    const ask = (method: 'POST' | 'DELETE', path: string, body?: object) =>
      service.ask(method, path, { token: buyer.token, ...(body && { body }) })
    const child = (await ask('POST', '/tokens', { scopes: ['sandbox'] })).body
    const { url: its } = (
      await service.ask('POST', `/sandboxes/${id}/download-url`, {
        token: child.token,
        body: { path: 'mine' },
      })
    ).body
    const { url: own } = await link('download', 'mine')
    const { url: up } = await link('upload', 'mine')
    expect([(await fetch(its)).status, (await fetch(own)).status]).toEqual([200, 200])
    await ask('DELETE', `/tokens/${child.details.id}`)
    expect([(await fetch(its)).status, (await fetch(own)).status]).toEqual([403, 200])
    expect((await fetch(its.replace(child.details.id, new URL(own).searchParams.get('token')!))).status).toBe(
      403,
    )

    const suspend = (at: Date | null) =>
      service.services.db.query('update account set suspended_at = $2 where id = $1', [buyer.accountId, at])
    await suspend(service.clock.now())
    const codes = [await fetch(own), await put(up, 'y')].map(async (answer) => (await answer.json()).code)
    expect(await Promise.all(codes)).toEqual(['link_invalid', 'link_invalid'])
    await suspend(null)
    expect(await (await fetch(own)).text()).toBe('x')
  })

  test('error: a file that is not there, and a sandbox that does not run', async () => {
    const { url: none } = await link('download', 'none')
    expect(await (await fetch(none)).json()).toMatchObject({ code: 'file_not_found' })
    await buyer.post(`/sandboxes/${id}/pause`)
    expect(await (await fetch(none)).json()).toMatchObject({ code: 'sandbox_not_running' })
    await buyer.post(`/sandboxes/${id}/resume`)
  })

  test('error: a large upload that is refused before it was sent is answered', async () => {
    const answerOf = async (to: string, body: BodyInit) => {
      const answer = await put(to, body)
      return [answer.status, (await answer.json()).code]
    }
    const { url: folder } = await link('upload', 'big')
    const bytes = Buffer.alloc(20 * MIB)
    expect(await answerOf(folder, bytes)).toEqual([422, 'file_refused'])
    expect(await answerOf(folder, megabytes(20))).toEqual([422, 'file_refused'])
    expect(await answerOf(folder.replace('path=big', 'path=x'), bytes)).toEqual([403, 'link_invalid'])
  })

  test('limit: what says that it is larger than a file may be is not waited for', async () => {
    const sent = request((await link('upload', 'huge')).url, {
      method: 'PUT',
      headers: { 'content-length': String(2 * 1024 ** 3 + 1) },
    })
    sent.on('error', () => {}).write('a piece')
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    expect(await json(answer)).toMatchObject({ code: 'body_too_large' })
    sent.destroy()
  })

  test('error: a large upload that is refused half-way is answered', async () => {
    const { url: full } = await link('upload', 'full')
    for (const body of [Buffer.alloc(20 * MIB), megabytes(20)]) {
      await buyer.post(`/sandboxes/${id}/exec`, { command: 'ln -s /dev/full full.part' })
      const answer = await put(full, body)
      expect([answer.status, (await answer.json()).code]).toEqual([422, 'file_refused'])
    }
  })

  test('behavior: an upload that breaks half-way leaves the file as it was', async () => {
    const { url: up } = await link('upload', 'small')
    await new Promise<void>((resolve) => {
      const sent = request(up, { method: 'PUT', headers: { 'content-length': '1000' } })
      sent.on('error', () => resolve())
      sent.write('half')
      setTimeout(() => sent.destroy(), 200)
    })
    await new Promise((resolve) => setTimeout(resolve, 200))
    const { url: down } = await link('download', 'small')
    expect(await (await fetch(down)).text()).toBe('0123456789')
  })
})

describe('with a token', () => {
  const content = (path: string) =>
    `${url}${basePath}/sandboxes/${id}/files/content?path=${encodeURIComponent(path)}`
  const authorization = () => ({ authorization: `Bearer ${buyer.token}` })

  test('default: in and out', async () => {
    const up = await put(content('mine'), 'bytes', { ...authorization(), 'content-type': 'text/plain' })
    expect(await up.json()).toEqual({ path: 'mine', size: 5 })
    expect(await (await fetch(content('mine'), { headers: authorization() })).text()).toBe('bytes')
  })

  test('error: without one, or with one of somebody else', async () => {
    expect((await fetch(content('mine'))).status).toBe(401)
    const { token } = await service.customer()
    const other = await fetch(content('mine'), { headers: { authorization: `Bearer ${token}` } })
    expect([other.status, (await other.json()).code]).toEqual([403, 'not_owner'])
    const nowhere = await fetch(content('').replace('path=', ''), { headers: authorization() })
    expect([nowhere.status, (await nowhere.json()).code]).toEqual([422, 'invalid_input'])
  })
})

test.each([
  ['bytes=0-0', 10, { start: 0, end: 0 }],
  ['bytes=5-', 10, { start: 5, end: 9 }],
  ['bytes=-20', 10, { start: 0, end: 9 }],
  ['bytes=0-99', 10, { start: 0, end: 9 }],
  ['bytes=10-', 10, undefined],
  ['bytes=4-2', 10, undefined],
  ['bytes=-', 10, undefined],
  ['bytes=0-1,3-4', 10, undefined],
  ['lines=1-2', 10, undefined],
  ['bytes=0-', 0, undefined],
])('default: the range %s of %i bytes', (header, size, range) => {
  expect(parseRange(header, size)).toEqual(range)
})
