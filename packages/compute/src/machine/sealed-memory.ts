import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { asUserWithCaller } from '@coinrack/host/as-user.ts'

const SCRIPT = join(import.meta.dirname, 'seal-memory.pl')

export interface SealedMemory {
  /**
   * A process that inherits it can map it; none, not even root's, can change it. Its memory is freed with the last
   * holder.
   */
  descriptor: number
  /** The sum of its content. */
  sha256: string
}

/**
 * Loads a guest's memory of `bytes` from a file into sealed memory of the host. QEMU opens the memory of a clone for
 * writing whatever it is told; the seals make sure that a broken one can't reach its siblings.
 * Throws when the file is not there or not of that size.
 */
export async function sealMemory(path: string, bytes: number): Promise<SealedMemory> {
  const [command, args] = asUserWithCaller(undefined, 'nice', ['perl', SCRIPT, path, String(bytes)])
  const child = spawn(command, args, { stdio: 'pipe' })
  const errors = text(child.stderr)
  const ended = once(child, 'close')
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const said = /^(\d+) (\d+) ([0-9a-f]{64}) /.exec(line)
      if (said) return { descriptor: openSync(`/proc/${said[1]}/fd/${said[2]}`, 'r'), sha256: said[3]! }
    }
    throw new Error(`Memory of a template: ${(await errors).trim()}`)
  } finally {
    child.stdin.end()
    await ended
  }
}
