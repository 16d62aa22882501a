import { announce } from '../database/changes.ts'
import type { Queryable, Transaction } from '../database/transaction.ts'
import type { PassReport } from './pass-report.ts'
import type { Clock, Services } from './services.ts'

type Mail = Parameters<Services['mailer']['send']>[0]

interface QueuedMail {
  id: bigint
  recipient: string
  content: Buffer
  sealed: boolean
  attempts: number
}

/** Announced when there is mail to send. */
export const QUEUED_MAIL = 'queued-mail'

const CONTEXT = 'mail'
const AT_ONCE = 20
/** Longer than handing over one mail can take; then it is tried again. */
const LEASE_MS = 300_000
const PAUSES_MS = [10_000, 60_000, 300_000, 1_800_000, 7_200_000, 21_600_000]

/**
 * Sends a mail when the transaction is committed, and not when it isn't. May be sent twice when the service is killed
 * at the wrong moment; a mail server that is down delays it.
 * @param to null: an account of a wallet that has no e-mail address is not written to
 * @param sealer needed for a mail that holds a secret: until it is sent it lies in the database
 */
export async function queueMail(
  tx: Transaction,
  { clock, sealer }: { clock: Clock; sealer?: Services['sealer'] },
  { to, subject, text }: Omit<Mail, 'to'> & { to: string | null },
): Promise<void> {
  if (to === null) return
  const content = JSON.stringify({ subject, text })
  await tx.query(
    'insert into outgoing_mail (recipient, content, sealed, next_at, created_at) values ($1, $2, $3, $4, $4)',
    [to, sealer ? sealer.seal(content, CONTEXT) : Buffer.from(content), sealer !== undefined, clock.now()],
  )
  await announce(tx, QUEUED_MAIL)
}

/** Sends what is due, oldest first. Takes no input; may be killed at any step and run on any number of replicas. */
export async function sendQueuedMail(services: Services): Promise<PassReport> {
  const { db, clock, sealer, mailer, log } = services
  const report = { seen: 0, done: 0, failed: 0 }
  for (; report.seen < AT_ONCE; report.seen++) {
    const mail = await claim(db, clock.now())
    if (!mail) return report
    const content = mail.sealed ? sealer.open(mail.content, CONTEXT) : mail.content.toString()
    try {
      await mailer.send({ to: mail.recipient, ...JSON.parse(content) })
      report.done++
    } catch (error) {
      report.failed++
      const pause = PAUSES_MS[mail.attempts - 1]
      log.error({ err: error, mail: String(mail.id), again: pause !== undefined }, 'A mail could not be sent')
      if (pause !== undefined) {
        await db.query('update outgoing_mail set next_at = $2 where id = $1', [
          mail.id,
          new Date(clock.now().getTime() + pause),
        ])
        continue
      }
    }
    await db.query('delete from outgoing_mail where id = $1', [mail.id])
  }
  return report
}

/**
 * One at a time: the lease of each begins when it is handed over. Compared by `=`, since PostgreSQL may run what follows
 * `in` once for each row, and every time it would lock another one.
 */
async function claim(db: Queryable, now: Date): Promise<QueuedMail | undefined> {
  const { rows } = await db.query<QueuedMail>(
    `update outgoing_mail set attempts = attempts + 1, next_at = $2
     where id = (select id from outgoing_mail where next_at <= $1 order by id limit 1 for update skip locked)
     returning id, recipient, content, sealed, attempts`,
    [now, new Date(now.getTime() + LEASE_MS)],
  )
  return rows[0]
}
