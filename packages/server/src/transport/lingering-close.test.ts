import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { basePath } from '@coinrack/contract/index.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../process/testing.ts'
import { lingerAfterAnswers } from './lingering-close.ts'
import { createServer } from './server.ts'
import { sendAll } from './testing.ts'

let service: TestService
let origin: string
beforeAll(async () => {
  service = await startTestService()
  origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => service.close())

const MIB = 1024 * 1024
const head = (length: number, more = '') =>
  `POST ${basePath}/register HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n${more}\r\n`

describe('a body that is refused before its end', () => {
  test('default: its sender hears why, and then goes on with the connection', async () => {
    const next = `GET ${basePath}/nowhere HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`
    const heard = await sendAll(origin, head(64 * MIB), Buffer.alloc(64 * MIB, 'x'), next)
    expect(heard.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 404'])
    expect(heard).toContain('"body_too_large"')
  })

  test('default: the connection of one who asked for it is closed, after all was read', async () => {
    const heard = await sendAll(origin, head(64 * MIB, 'connection: close\r\n'), Buffer.alloc(64 * MIB, 'x'))
    expect(heard).toContain('"body_too_large"')
  })

  test('limit: is not read on for ever', async () => {
    const app = createServer(service.services, [])
    lingerAfterAnswers(app, { longestMs: 200 })
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const heard = await sendAll(url, head(64 * MIB), 'a piece')
    expect(heard).toContain('"body_too_large"')
    await app.close()
  })

  test('behavior: does not hold up the end of the service', async () => {
    const app = createServer(service.services, [])
    lingerAfterAnswers(app)
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write(head(64 * MIB))
    await new Promise((resolve) => socket.once('data', resolve))
    await app.close()
    await text(socket)
  })
})
