import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MonitorError, withMonitor } from './monitor.ts'

let folder: string
let path: string
let server: Server

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-qmp-'))
  path = join(folder, 'monitor.sock')
})

afterEach(async () => {
  server?.close()
  await rm(folder, { recursive: true })
})

/** Speaks as QEMU does: a greeting, events in between, one reply for each command. */
async function speak(replies: Record<string, object>, greeting: object = { QMP: { version: {} } }) {
  server = createServer((socket) => {
    socket.write(`${JSON.stringify(greeting)}\r\n`)
    createInterface({ input: socket }).on('line', (line) => {
      const { execute } = JSON.parse(line)
      socket.write(`${JSON.stringify({ event: 'RTC_CHANGE' })}\r\n`)
      const reply = execute === 'qmp_capabilities' ? { return: {} } : replies[execute]
      if (reply) socket.write(`${JSON.stringify(reply)}\r\n`)
    })
  }).listen(path)
  await new Promise((resolve) => server.once('listening', resolve))
}

test('default: commands in order, past events', async () => {
  await speak({ 'query-status': { return: { status: 'running' } }, 'query-name': { return: { name: 'a' } } })
  const answers = await withMonitor(path, async ({ execute }) => [
    await execute('query-status'),
    await execute('query-name'),
  ])
  expect(answers).toEqual([{ status: 'running' }, { name: 'a' }])
})

test('error: a refused command says why', async () => {
  await speak({ eject: { error: { class: 'GenericError', desc: 'no such drive' } } })
  await expect(withMonitor(path, ({ execute }) => execute('eject'))).rejects.toThrow('eject: no such drive')
})

test('error: nobody there, and one who never answers', async () => {
  await expect(withMonitor(path, ({ execute }) => execute('stop'))).rejects.toThrow(MonitorError)
  await speak({})
  const call = withMonitor(path, ({ execute }) => execute('stop'), { timeoutMs: 100 })
  await expect(call).rejects.toThrow('No answer')
})
