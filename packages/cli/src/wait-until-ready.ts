import { type Client, waitForSsh } from '@coinrack/sdk/index.ts'
import type { Call } from './call.ts'
import type { FoundVps } from './find.ts'
import { waitLimit } from './wait-limit.ts'

/** Progress is asked for so often, in seconds. */
const POLL_S = 5

/** Waits until a VPS answers by SSH, and shows the way in, with the root password when it is shown for the first time. */
export async function waitUntilReady(
  call: Call,
  client: Client,
  serviceId: string,
  timeout: number | undefined,
): Promise<void> {
  const limit = waitLimit(call.terminal, timeout)
  const line = call.waiting(`VPS ${serviceId}`)
  try {
    const vps = await waitForSsh(client, serviceId, {
      signal: limit.signal,
      poll: POLL_S,
      onChange: ({ status }) => line.note(status),
    })
    line.end('SSH answers')
    call.show(vps, () => [
      `${vps.hostname} is ready: coinrack ssh ${vps.hostname}`,
      ...(vps.root_password === undefined
        ? []
        : [`The root password, which is not shown again: ${vps.root_password}`]),
    ])
  } catch (error) {
    line.end()
    if (limit.signal.aborted) call.say(`It goes on. Wait for it with: coinrack wait ${serviceId}`)
    throw error
  } finally {
    limit.clear()
  }
}

/** What `coinrack list` shows of a VPS. */
export const vpsRow = (vps: FoundVps) => [
  vps.hostname,
  vps.status,
  vps.product,
  vps.os.name,
  `${vps.ip}:${vps.ssh_port}`,
  vps.billing?.paid_until,
  vps.id,
]
