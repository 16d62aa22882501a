import type { Call } from '../../dispatch/handler.ts'

/** Confirms without naming anything. */
const ANY_NAME = 'DELETE'

type Confirmed = Pick<Call<'reinstallVps' | 'cancelService' | 'changePlan' | 'resetPassword'>, 'fail'>

/**
 * Makes sure that something is confirmed: by true, by the hostname of the VPS, or by DELETE.
 * @param what would happen, as the first half of a sentence
 * @throws OperationError `confirmation_required`
 */
export function checkConfirmation(
  { fail }: Confirmed,
  { id, hostname }: { id: string; hostname: string },
  confirm: boolean | string | undefined,
  what: string,
): void {
  if (confirm === true || confirm === 'true' || confirm === hostname || confirm === ANY_NAME) return
  fail(
    'confirmation_required',
    `${what}: confirm with true, with the hostname, ${hostname}, or with ${ANY_NAME}`,
    {
      nextSteps: [
        {
          tool: 'get_vps_status',
          why: 'See that it is the VPS that you mean',
          arguments: { service_id: id, reveal: false },
        },
      ],
    },
  )
}
