import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Waits until no other process plays this part of the host's network, also of another checkout.
 * The kernel gives the turn back when this process ends, however it ends.
 * @returns what gives it back
 */
export async function takeTurn(part: string): Promise<() => Promise<void>> {
  const lock = join(tmpdir(), `coinrack-test-${part}.lock`)
  const holder = spawn('flock', [lock, 'sh', '-c', 'echo taken; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(holder.stdout, 'data')
  return async () => {
    holder.stdin.end()
    await once(holder, 'exit')
  }
}
