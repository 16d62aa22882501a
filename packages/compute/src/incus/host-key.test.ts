import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { freePort } from '@coinrack/host/free-port.ts'
import { expect, test } from 'vitest'
import { hasHostKey } from './host-key.ts'

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAeDRKn7CAuQzgIzNJpFxg1m9S4f2fXSMjPAVm5pJUKx'

test('behavior: a server that has said its banner is waited for while it works out its keys; where none is, nobody waits', async () => {
  const BUSY_MS = 5_000
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.write('SSH-2.0-OpenSSH_9.2\r\n')
    setTimeout(() => socket.destroy(), BUSY_MS)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const begun = performance.now()
  expect(await hasHostKey({ host: '127.0.0.1', port }, KEY)).toBe(false)
  expect(performance.now() - begun).toBeGreaterThan(BUSY_MS - 500)
  server.close()

  const nobody = { host: '127.0.0.1', port: await freePort() }
  const again = performance.now()
  expect(await hasHostKey(nobody, KEY)).toBe(false)
  expect(performance.now() - again).toBeLessThan(4_000)
})
