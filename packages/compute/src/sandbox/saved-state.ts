import { createHash } from 'node:crypto'
import { chown, open, rename, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { type Monitor, withMonitor } from '../machine/monitor.ts'

/*
 * The state of a machine, memory included, as a file. QEMU writes it to a socket of ours, so that it is summed on its
 * way and never larger than it can be.
 */

export interface SavedState {
  bytes: number
  sha256: string
}

const SOCKET = 'state.sock'
const PATIENCE_MS = 60_000
const POLL_MS = 10
const MIB = 1024 ** 2
/** The size of a state beside memory. */
const DEVICES_MB = 64

/**
 * Stops the machine and writes its state to `file`, which appears whole or not at all. The machine stands still
 * afterwards; `cont` lets it go on.
 */
export async function saveMachine(
  machine: { folder: string; monitor: string; memoryMb: number; user: RunAs | undefined },
  file: string,
): Promise<SavedState> {
  const path = join(machine.folder, SOCKET)
  const part = `${file}.part`
  await rm(path, { force: true })
  const received = Promise.withResolvers<SavedState>()
  received.promise.catch(() => {})
  const server = createServer((socket) => {
    server.close()
    receive(socket, part, (machine.memoryMb + DEVICES_MB) * MIB).then(received.resolve, received.reject)
  }).listen(path)
  try {
    await new Promise((listening) => server.once('listening', listening))
    if (machine.user) await chown(path, machine.user.uid, machine.user.gid)
    await withMonitor(machine.monitor, (monitor) => migrate(monitor), { timeoutMs: PATIENCE_MS })
    const saved = await received.promise
    await rename(part, file)
    return saved
  } finally {
    server.close()
    await rm(path, { force: true })
    await rm(part, { force: true })
  }
}

async function migrate({ execute }: Monitor): Promise<void> {
  await execute('stop')
  await execute('migrate-set-parameters', { 'max-bandwidth': 16 * 1024 ** 3 })
  await execute('migrate', { uri: `unix:${SOCKET}` })
  for (;;) {
    const { status, 'error-desc': reason } = await execute<{ status: string; 'error-desc'?: string }>(
      'query-migrate',
    )
    if (status === 'completed') return
    if (status === 'failed' || status === 'cancelled')
      throw new Error(`Saving a machine: ${reason ?? status}`)
    await sleep(POLL_MS)
  }
}

async function receive(socket: Socket, file: string, limit: number): Promise<SavedState> {
  const hash = createHash('sha256')
  const handle = await open(file, 'w', 0o600)
  let bytes = 0
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > limit) throw new Error('The state of a machine does not end')
      hash.update(chunk)
      await handle.writeFile(chunk)
    }
    await handle.sync()
    return { bytes, sha256: hash.digest('hex') }
  } finally {
    socket.destroy()
    await handle.close()
  }
}
