import { once } from 'node:events'
import { request } from 'node:http'
import { basePath } from '@coinrack/contract/index.ts'
import { freePort } from '@coinrack/host/free-port.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'
import { type Buyer, buyerOf } from '../life/testing.ts'

let service: TestService
let buyer: Buyer
let port: number
let id: string
beforeAll(async () => {
  port = await freePort()
  service = await startTestService()
  await service.app.listen({ host: '127.0.0.1', port })
  buyer = await buyerOf(service)
  id = await buyer.sandbox()
})
afterAll(() => service.close())

const ask = (method: Parameters<Buyer['ask']>[0], path: string, body?: object) =>
  buyer.ask(method, `/sandboxes/${id}${path}`, body)
const write = (path: string) => ask('PUT', '/files', { path, content: 'x' })

describe('make_folder', () => {
  test('default: says whether it is new', async () => {
    const make = async () => (await ask('PUT', '/folders', { path: 'a/b' })).body
    expect(await make()).toEqual({ path: 'a/b', created: true })
    expect(await make()).toEqual({ path: 'a/b', created: false })
    await write('plain')
    expect((await ask('PUT', '/folders', { path: 'plain/c' })).body.code).toBe('file_refused')
  })
})

describe('move_file', () => {
  test('default: to another folder, which is made', async () => {
    await write('here')
    const moved = await ask('POST', '/files/move', { path: 'here', to: 'there/now' })
    expect(moved.status).toBe(200)
    expect((await ask('GET', '/files?path=there/now')).body.content).toBe('x')
    expect((await ask('POST', '/files/move', { path: 'here', to: 'x' })).body.code).toBe('file_not_found')
  })
})

describe('watch_folder', () => {
  test('default: answers with the first changes', async () => {
    await ask('PUT', '/folders', { path: 'watched' })
    const watching = ask('GET', '/folders/changes?path=watched&timeout=20')
    let isOver = false
    watching.then(() => {
      isOver = true
    })
    // It is not known when it begins to watch.
    for (let number = 0; !isOver; number++) await write(`watched/${number}`)
    const { changes } = (await watching).body
    expect(changes[0]).toEqual({ type: expect.any(String), path: expect.stringMatching(/^\d+/) })
  })

  test('behavior: answers with none after its time', async () => {
    expect((await ask('GET', '/folders/changes?path=watched&timeout=1')).body).toEqual({ changes: [] })
    expect((await ask('GET', '/folders/changes?path=none')).body.code).toBe('file_not_found')
  })

  test('default: streams each change until the caller hangs up', async () => {
    const asked = request({
      port,
      path: `${basePath}/sandboxes/${id}/folders/changes?path=watched`,
      headers: { accept: 'text/event-stream', authorization: `Bearer ${buyer.token}` },
    }).end()
    let heard = ''
    once(asked, 'response').then(([answer]) => answer.on('data', (text: Buffer) => (heard += text)))
    for (let number = 0; !/event: change[\s\S]*event: change/.test(heard); number++)
      await write(`watched/more-${number}`)
    expect(heard).toMatch(/^event: watching\ndata: {"path":"watched"}\n/)
    expect(heard).toMatch(/data: {"type":"\w+","path":"more-\d+/)
    asked.destroy()
  })
})

describe('contexts', () => {
  test('default: there is one for each language, and more in folders of their own', async () => {
    expect((await ask('GET', '/contexts')).body.map(({ id }: { id: string }) => id)).toEqual([
      'bash',
      'node',
      'python',
    ])
    const made = await ask('POST', '/contexts', { context: 'mine', cwd: '/tmp' })
    expect(made.body).toEqual({ context: 'mine', language: 'python', cwd: '/tmp' })
    expect((await ask('POST', '/contexts', { context: 'mine', language: 'node' })).body.code).toBe(
      'task_refused',
    )
    expect((await ask('GET', '/contexts?limit=2')).body).toHaveLength(2)
  })

  test('default: emptied, and deleted', async () => {
    const run = async (code: string) => (await ask('POST', '/run', { code, context: 'mine' })).body
    await run('x = 1')
    expect((await run('x')).results).toHaveLength(1)
    expect((await ask('POST', '/contexts/mine/restart')).body).toEqual({ context: 'mine' })
    expect((await run('x')).error.name).toBe('NameError')
    expect((await ask('DELETE', '/contexts/mine')).body).toEqual({ context: 'mine' })
    expect((await ask('POST', '/contexts/mine/restart')).body.code).toBe('unknown_context')
  })
})
