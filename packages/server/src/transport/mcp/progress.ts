import type { ServerContext } from '@modelcontextprotocol/server'

/** So often a client that has asked for it is told that its call goes on: more often than clients and proxies give up. */
const PROGRESS_MS = 2_000

/**
 * Tells the client of a call that it goes on, when it asked for that: how many seconds have passed, of how many at most.
 * @returns what ends it
 */
export function tellProgress(
  { mcpReq }: ServerContext,
  { timeout, wait }: Record<string, unknown>,
): () => void {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return () => {}
  const begun = performance.now()
  const timer = setInterval(() => {
    const progress = Math.round((performance.now() - begun) / 1000)
    const params = {
      progressToken,
      progress,
      ...(typeof timeout === 'number' && timeout > progress ? { total: timeout } : {}),
      message: typeof wait === 'string' ? `Waiting for ${wait}` : 'Working',
    }
    // One that has hung up takes no more.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
  }, PROGRESS_MS)
  return () => clearInterval(timer)
}
