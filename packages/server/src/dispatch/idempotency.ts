import type { Queryable, Transaction } from '../database/transaction.ts'
import { OperationError } from '../platform/errors.ts'
import { createSealer, sha256 } from '../platform/sealer.ts'
import type { Services } from '../platform/services.ts'

/** A write that its caller may repeat. */
export interface Idempotency {
  accountId: string
  /** The token that presents the key, which survives its refresh: no other token is given the answer. */
  tokenId: string
  /** As presented: it is not stored, and what is stored can be read only with it. */
  key: string
  operation: string
  input: Record<string, unknown>
}

const LONGEST_KEY = 255
/** In bytes of JSON. A longer answer is given once: repeats are told so, and do nothing. */
const LONGEST_ANSWER = 64 * 1024

/**
 * The answer that this key was given before, if any. The key is locked until the transaction ends, so that
 * the same call cannot run twice at the same moment.
 * @throws OperationError `idempotency_running`, `idempotency_key_reused`, `answer_not_kept`, `invalid_input`
 */
export async function replay(
  tx: Transaction,
  services: Services,
  call: Idempotency,
): Promise<Record<string, unknown> | undefined> {
  if (call.key.length === 0 || call.key.length > LONGEST_KEY) {
    throw new OperationError('invalid_input', `Idempotency-Key has 1 to ${LONGEST_KEY} characters`, {
      fields: { details: [{ path: 'Idempotency-Key', message: `Expected 1 to ${LONGEST_KEY} characters` }] },
    })
  }
  const { rows: locks } = await tx.query<{ locked: boolean }>(
    'select pg_try_advisory_xact_lock($1::bigint) as locked',
    [hashKey(call).readBigInt64BE()],
  )
  if (!locks[0]?.locked) throw isRunning()
  const stored = await storedAnswer(tx, services, call)
  if (!stored && (await isNoted(tx, services, call))) throw isRunning()
  return stored
}

/**
 * The answer that this key was given before, if any, read without a lock: the call may be running at this moment.
 * @throws OperationError `idempotency_key_reused`, `answer_not_kept`
 */
export async function storedAnswer(
  db: Queryable,
  services: Services,
  call: Idempotency,
): Promise<Record<string, unknown> | undefined> {
  const { rows } = await db.query<{ input_hash: Buffer; answer: Buffer | null }>(
    'select input_hash, answer from idempotent_answer where account_id = $1 and key_hash = $2',
    [call.accountId, hashKey(call)],
  )
  const stored = rows[0]
  if (!stored) return undefined
  if (!stored.input_hash.equals(hashInput(call))) {
    throw new OperationError('idempotency_key_reused', 'This Idempotency-Key was used for another request')
  }
  if (stored.answer === null) {
    throw new OperationError(
      'answer_not_kept',
      'The request with this Idempotency-Key was done, and its answer was too large to be kept',
    )
  }
  return JSON.parse(sealer(services, call).open(stored.answer, call.tokenId))
}

/** Stores the answer: in the transaction of the effect, or at the end of a run that was noted, whose note goes with it. */
export async function remember(
  db: Queryable,
  services: Services,
  call: Idempotency,
  answer: Record<string, unknown>,
): Promise<void> {
  await db.query(
    `with ended as (delete from idempotent_run where account_id = $1 and key_hash = $2)
     insert into idempotent_answer (account_id, key_hash, input_hash, answer, created_at)
     values ($1, $2, $3, $4, $5)`,
    [call.accountId, hashKey(call), hashInput(call), sealed(services, call, answer), services.clock.now()],
  )
}

/** Stores another answer in place of one: what came of the effect after it was committed. */
export async function replaceAnswer(
  services: Services,
  call: Idempotency,
  answer: Record<string, unknown>,
): Promise<void> {
  await services.db.query(
    'update idempotent_answer set answer = $3 where account_id = $1 and key_hash = $2',
    [call.accountId, hashKey(call), sealed(services, call, answer)],
  )
}

/** Releases the key: nothing came of the effect. */
export async function forgetAnswer({ db }: Services, call: Idempotency): Promise<void> {
  await db.query('delete from idempotent_answer where account_id = $1 and key_hash = $2', [
    call.accountId,
    hashKey(call),
  ])
}

/** So often a run says that it goes on. */
const SIGN_MS = 30_000
/** A run that has been silent for longer was begun by a service that was killed. */
const SILENT_MS = 4 * SIGN_MS

/**
 * Notes that a call without a transaction of its own runs, for all replicas, until `remember` or `endRun`.
 * @throws OperationError `idempotency_running`
 */
export async function beginRun(tx: Transaction, { clock }: Services, call: Idempotency): Promise<void> {
  const now = clock.now()
  const { rowCount } = await tx.query(
    `insert into idempotent_run as run (account_id, key_hash, began_at) values ($1, $2, $3)
     on conflict (account_id, key_hash) do update set began_at = $3 where run.began_at < $4`,
    [call.accountId, hashKey(call), now, new Date(now.getTime() - SILENT_MS)],
  )
  if (rowCount === 0) throw isRunning()
}

/** Whether a call with this key runs in no transaction of its own, which may be another operation than the one that asks. */
async function isNoted(tx: Transaction, { clock }: Services, call: Idempotency): Promise<boolean> {
  const { rowCount } = await tx.query(
    'select from idempotent_run where account_id = $1 and key_hash = $2 and began_at >= $3',
    [call.accountId, hashKey(call), new Date(clock.now().getTime() - SILENT_MS)],
  )
  return rowCount !== 0
}

/** Lets the run be noted for as long as it takes. @returns what stops that */
export function keepRun({ db, clock, log }: Services, call: Idempotency): () => void {
  const sign = () =>
    db.query('update idempotent_run set began_at = $3 where account_id = $1 and key_hash = $2', [
      call.accountId,
      hashKey(call),
      clock.now(),
    ])
  const timer = setInterval(() => {
    sign().catch((error) => log.error({ err: error }, 'Noting that a request goes on failed'))
  }, SIGN_MS)
  return () => clearInterval(timer)
}

/** Forgets a run that has no answer. */
export async function endRun({ db }: Services, call: Idempotency): Promise<void> {
  await db.query('delete from idempotent_run where account_id = $1 and key_hash = $2', [
    call.accountId,
    hashKey(call),
  ])
}

const isRunning = () =>
  new OperationError('idempotency_running', 'A request with this Idempotency-Key is still running')

/** Forgets answers that are older than a day. Takes no input; safe to run at any time. */
export async function forgetOldAnswers({ db, clock }: Services): Promise<void> {
  const now = clock.now()
  await db.query(`delete from idempotent_answer where created_at < $1::timestamptz - interval '24 hours'`, [
    now,
  ])
  await db.query('delete from idempotent_run where began_at < $1', [new Date(now.getTime() - SILENT_MS)])
}

/** An answer as it is stored; null when it is too large. */
function sealed(services: Services, call: Idempotency, answer: Record<string, unknown>): Buffer | null {
  const text = JSON.stringify(answer)
  return Buffer.byteLength(text) > LONGEST_ANSWER ? null : sealer(services, call).seal(text, call.tokenId)
}

const sealer = (services: Services, call: Idempotency) => createSealer(call.key, services.random)
/** The answer, the lock and the note of a run all go by it. */
export const hashKey = ({ tokenId, key }: Pick<Idempotency, 'tokenId' | 'key'>) =>
  sha256(`${tokenId}\n${key}`)
/** The same for two requests that ask for the same. */
export const hashInput = ({ operation, input }: Pick<Idempotency, 'operation' | 'input'>) =>
  sha256(`${operation}\n${canonical(input)}`)

/** JSON with sorted keys: the same input written in another order is the same input. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
