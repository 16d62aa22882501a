import type { ErrorOptions } from '../errors.ts'
import { judgeSshKey } from './ssh-public-key.ts'

type Refuse = (code: 'invalid_ssh_key', message: string, options?: ErrorOptions) => never

/** The key as a line of authorized_keys. Refuses one that is not whole, or of a kind that is not accepted. */
export function checkSshKey(text: string, fail: Refuse): string {
  const verdict = judgeSshKey(text)
  if ('line' in verdict) return verdict.line
  return fail('invalid_ssh_key', verdict.refused, {
    fields: { details: [{ path: 'ssh_key', message: verdict.refused }] },
  })
}
