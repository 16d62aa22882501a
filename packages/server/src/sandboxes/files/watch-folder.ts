import type { FileEvent } from '@coinrack/compute/ports/sandbox-channel.ts'
import { SandboxError } from '@coinrack/compute/ports/sandbox-runtime.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { askSandbox } from '../tasks/ask-sandbox.ts'

/** Changes so close to the first one are told with it. */
const TOGETHER_MS = 200

export const watchFolder: Handler<'watchFolder'> = async ({ input, resource, services, stream, gone }) => {
  const { sandbox_id: id, path, recursive, timeout } = input
  const enough = new AbortController()
  const stopIn = (ms: number) => setTimeout(() => enough.abort(), ms)
  const signal = AbortSignal.any([enough.signal, stream?.gone ?? gone])
  const timers = stream ? [] : [stopIn(timeout * 1000)]
  const changes: FileEvent[] = []
  try {
    await askSandbox(services, id, resource, async ({ files }) => {
      const watched = await files.watch(id, path, { recursive, signal })
      if (stream && !(await stream.emit('watching', { path }))) return
      for await (const change of watched) {
        if (stream) {
          if (!(await stream.emit('change', { ...change }))) return
          continue
        }
        if (changes.length === 0) timers.push(stopIn(TOGETHER_MS))
        changes.push(change)
      }
      if (stream && !signal.aborted)
        throw new SandboxError('guest_failed', `The sandbox ended or was paused while ${path} was watched`)
    })
  } finally {
    for (const timer of timers) clearTimeout(timer)
  }
  return { changes }
}
