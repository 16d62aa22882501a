import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { listeningPorts } from './listening-ports.ts'

test.each(['127.0.0.1', '0.0.0.0', '::'])(
  'default: a port on which something listens at %s, and no longer than that',
  async (host) => {
    const server = createServer().listen(0, host)
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    expect(await listeningPorts()).toContain(port)
    server.close()
    await once(server, 'close')
    expect(await listeningPorts()).not.toContain(port)
  },
)
