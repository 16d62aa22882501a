import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { answersSsh } from './answers-ssh.ts'

async function answered(greeting: string | undefined): Promise<boolean> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    if (greeting !== undefined) socket.write(greeting)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  const answer = await answersSsh({ host: '127.0.0.1', port }, 200)
  server.close()
  return answer
}

test('default: a banner is an answer', async () => {
  expect(await answered('SSH-2.0-OpenSSH_9.2p1\r\n')).toBe(true)
})

test('behavior: neither another protocol, nor silence, nor a closed port is', async () => {
  expect(await answered('220 mail.example.net\r\n')).toBe(false)
  expect(await answered(undefined)).toBe(false)
  expect(await answersSsh({ host: '127.0.0.1', port: 1 })).toBe(false)
})
