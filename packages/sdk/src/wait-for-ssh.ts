import type { Operations } from '@coinrack/contract/index.ts'
import type { Output } from '@coinrack/contract/operation.ts'
import type { Client } from './client.ts'
import { NeverError } from './never-error.ts'

type Vps = Output<Operations['getVpsStatus']>

/** No answer of the service takes longer. */
export const LONGEST_POLL_S = 50

/**
 * Waits until a VPS answers by SSH, and returns it with the ways in.
 * @param options.signal ends the waiting, such as `AbortSignal.timeout(600_000)`
 * @param options.onChange told what each poll showed
 * @param options.poll seconds after which a poll is answered at the latest
 * @param options.reveal false leaves the root password, which is shown once, for a later read
 * @throws NeverError when the VPS failed or was deleted
 */
export async function waitForSsh(
  client: Pick<Client, 'getVpsStatus'>,
  serviceId: string,
  options: { signal?: AbortSignal; onChange?: (vps: Vps) => void; poll?: number; reveal?: boolean } = {},
): Promise<Vps> {
  const { signal, onChange, poll = LONGEST_POLL_S, reveal = true } = options
  for (;;) {
    const vps = await client.getVpsStatus(
      { service_id: serviceId, wait: 'ssh_ready', timeout: poll, reveal },
      { signal },
    )
    onChange?.(vps)
    if (vps.ssh_ready) return vps
    if (vps.status === 'failed' || vps.status === 'deleted') {
      throw new NeverError(
        `VPS ${serviceId} is ${vps.status}${vps.failure_reason ? `: ${vps.failure_reason}` : ''}`,
      )
    }
  }
}
