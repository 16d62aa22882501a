import { OperationError } from '../platform/errors.ts'
import { CommitInDoubtError } from './transaction.ts'

const RETRY_S = 5

/** The codes of lost connections, as Node names them. */
const LOST = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN']
/**
 * The codes of PostgreSQL, https://www.postgresql.org/docs/current/errcodes-appendix.html, for a server that is shutting
 * down, starting up, out of connections, or a replica that accepts no writes.
 */
const AWAY = ['57P01', '57P02', '57P03', '53300', '25006']
/** Messages of the driver that come without a code. */
const SAID =
  /^Connection terminated|^timeout exceeded when trying to connect|^Query read timeout|^Client has encountered a connection error|^Cannot use a pool after calling end/
const TOO_LONG = ['57014', '53200']
const FULL = ['53100', 'ENOSPC', 'EDQUOT']

/**
 * The answer when the database is unreachable, too slow or out of disk space: 503, since the request was valid and can be
 * repeated. Undefined for every other failure.
 */
export function databaseTrouble(error: unknown): OperationError | undefined {
  if (error instanceof CommitInDoubtError) {
    return new OperationError(
      'unavailable',
      'The database went away at the last moment: this was done, or it was not',
      {
        retryAfter: RETRY_S,
        fix: 'Wait for retry_after seconds. Then repeat the call with the same Idempotency-Key, if it had one: what was done is answered, and not done twice. Without a key, look first whether it was done.',
      },
    )
  }
  const { code = '', syscall, message = '' } = error as NodeJS.ErrnoException
  if (FULL.includes(code)) {
    return new OperationError('storage_full', 'The disk of the service is full; nothing was done', {
      retryAfter: 12 * RETRY_S,
    })
  }
  if (TOO_LONG.includes(code)) {
    return new OperationError('overloaded', 'The database has too much to do at the moment', {
      retryAfter: RETRY_S,
    })
  }
  // The socket of the embedded database is a file.
  const isLost =
    syscall !== undefined && (LOST.includes(code) || (code === 'ENOENT' && syscall === 'connect'))
  if (!isLost && !AWAY.includes(code) && !code.startsWith('08') && !SAID.test(message)) return undefined
  return new OperationError('unavailable', 'The database of the service cannot be reached at the moment', {
    retryAfter: RETRY_S,
  })
}
