import type { Operations } from '@coinrack/contract/index.ts'
import type { Output } from '@coinrack/contract/operation.ts'
import type { Client } from './client.ts'
import { NeverError } from './never-error.ts'
import { LONGEST_POLL_S } from './wait-for-ssh.ts'

type Approval = Output<Operations['getApproval']>

/**
 * Waits until the owner of the account has approved a charge: send the same call again then. Each poll is answered when that
 * happened, or after 50 s.
 * @param approvalId of the error `approval_needed` (`error.body.approval_id`)
 * @param options.signal ends the waiting
 * @param options.onChange told what each poll showed
 * @throws NeverError when it was denied or has expired
 */
export async function waitForApproval(
  client: Pick<Client, 'getApproval'>,
  approvalId: string,
  { signal, onChange }: { signal?: AbortSignal; onChange?: (approval: Approval) => void } = {},
): Promise<Approval> {
  for (;;) {
    const input = { approval_id: approvalId, wait: 'decided', timeout: LONGEST_POLL_S } as const
    const approval = await client.getApproval(input, { signal })
    onChange?.(approval)
    if (approval.status === 'approved' || approval.status === 'spent') return approval
    if (approval.status !== 'pending') throw new NeverError(`Approval ${approvalId} is ${approval.status}`)
  }
}
