import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from './free-port.ts'

const listen = (port: number) => {
  const { promise, resolve, reject } = Promise.withResolvers<AsyncDisposable>()
  const server = createServer().once('error', reject)
  server.listen(port, '127.0.0.1', () =>
    resolve({ [Symbol.asyncDispose]: () => new Promise((done) => server.close(() => done())) }),
  )
  return promise
}

test('default: a port of the range that can be listened on', async () => {
  const port = await freePort()
  expect(port).toBeGreaterThanOrEqual(20_000)
  expect(port).toBeLessThanOrEqual(32_767)
  await using _server = await listen(port)
})

test('behavior: never a port that is taken', async () => {
  const from = await freePort({ from: 20_000, to: 32_766 })
  await using _server = await listen(from)
  const found = await Promise.all(Array.from({ length: 20 }, () => freePort({ from, to: from + 1 })))
  expect(found).not.toContain(from)
})

test('error: the whole range is taken', async () => {
  const port = await freePort()
  await using _server = await listen(port)
  await expect(freePort({ from: port, to: port })).rejects.toThrow(/No free port/)
})
