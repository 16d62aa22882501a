import { once } from 'node:events'
import { chown, mkdir, mkdtemp, readdir, rm, stat, symlink } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connectToGuest } from './guest-socket.ts'

const QEMU_USER = 2_009_999_999
let folder: string
let servers: Server[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-sockets-'))
  servers = []
})
afterEach(async () => {
  for (const server of servers) server.close()
  await rm(folder, { recursive: true })
})

async function serve(path: string, answer: string): Promise<void> {
  const server = createServer((socket) => socket.end(answer)).listen(path)
  await once(server, 'listening')
  servers.push(server)
}
/** The bytes that are read at a socket, or why there are none. */
async function read(path: string): Promise<string> {
  const socket = connectToGuest(path)
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  try {
    await once(socket, 'close')
    return text
  } catch (error) {
    return (error as Error).message
  }
}

test('default: a socket in a folder of ours is connected to', async () => {
  await serve(join(folder, 'monitor.sock'), 'hello')
  expect(await read(join(folder, 'monitor.sock'))).toBe('hello')
})

test('error: one that is not there', async () => {
  expect(await read(join(folder, 'monitor.sock'))).toContain('ENOENT')
})

test('error: a link is not followed', async () => {
  await serve(join(folder, 'other'), 'secret')
  await symlink(join(folder, 'other'), join(folder, 'monitor.sock'))
  expect(await read(join(folder, 'monitor.sock'))).toContain('is no socket')
})

describe.skipIf(process.getuid?.() !== 0)('made by another user, as root', () => {
  const sockets = ['monitor.sock', 'console.sock', 'screen.sock', 'agent.sock']
  let run: string
  beforeEach(async () => {
    run = join(folder, 'run')
    await mkdir(run, { mode: 0o700 })
  })

  test('behavior: nothing is connected to until all are there, then the folder is ours', async () => {
    await chown(run, QEMU_USER, QEMU_USER)
    for (const name of sockets) {
      expect(await read(join(run, 'monitor.sock'))).toContain('Not all')
      await serve(join(run, name), name)
    }
    expect(await read(join(run, 'monitor.sock'))).toBe('monitor.sock')
    expect((await stat(run)).uid).toBe(0)
    expect((await stat(run)).mode & 0o777).toBe(0o700)
  })

  test('behavior: what else was put there is gone, a link in place of a socket is never followed', async () => {
    await serve(join(folder, 'other'), 'secret')
    for (const name of sockets.slice(1)) await serve(join(run, name), name)
    await symlink(join(folder, 'other'), join(run, 'monitor.sock'))
    await symlink('/etc/shadow', join(run, 'more'))
    await mkdir(join(run, 'folder'))
    await chown(run, QEMU_USER, QEMU_USER)
    expect(await read(join(run, 'monitor.sock'))).toContain('Not all')
    await rm(join(run, 'monitor.sock'))
    await serve(join(run, 'monitor.sock'), 'mine')
    expect(await read(join(run, 'monitor.sock'))).toBe('mine')
    expect((await readdir(run)).sort()).toEqual([...sockets].sort())
  })
})
