import { isId } from '@coinrack/contract/ids.ts'
import type { Queryable } from '../../database/transaction.ts'
import type { ErrorOptions } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { judgeSshKey } from '../../platform/ssh-public-key.ts'

type Refuse = (code: 'invalid_ssh_key', message: string, options?: ErrorOptions) => never

/**
 * The key as a line of authorized_keys. Refuses one that is not whole, or of a kind that is not accepted.
 * @param given text of a key, or the identifier of one that the account has stored
 */
export async function checkSshKey(
  db: Queryable,
  { sshKeys }: Pick<Services, 'sshKeys'>,
  accountId: string,
  given: string,
  fail: Refuse,
): Promise<string> {
  const refuse = (message: string) =>
    fail('invalid_ssh_key', message, { fields: { details: [{ path: 'ssh_key', message }] } })
  if (isId('ssh_key', given.trim())) {
    return (
      (await sshKeys.lineOf(db, accountId, given.trim())) ?? refuse('There is no stored SSH key with this id')
    )
  }
  const verdict = judgeSshKey(given)
  return 'line' in verdict ? verdict.line : refuse(verdict.refused)
}
