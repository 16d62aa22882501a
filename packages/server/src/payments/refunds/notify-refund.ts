import { formatUsd } from '@coinrack/contract/wire.ts'
import { announce } from '../../database/changes.ts'
import type { Transaction } from '../../database/transaction.ts'
import { queueMail } from '../../platform/queue-mail.ts'
import { recordEvent } from '../../platform/record-event.ts'
import type { Services } from '../../platform/services.ts'
import { networkOf, type RefundRow } from './refund-store.ts'

/** Notifies the account of the state of a refund, by event and by mail. */
export async function notifyRefund(
  tx: Transaction,
  services: Pick<Services, 'newId' | 'clock'>,
  refund: RefundRow,
  what: 'requested' | 'cancelled' | 'approved' | 'rejected' | 'sent',
): Promise<void> {
  const { account_id: accountId } = refund
  const told = {
    refund_id: refund.id,
    amount: refund.amount,
    network: networkOf(refund.chain_id),
    token: refund.token,
    address: refund.address,
  }
  switch (what) {
    case 'requested':
      await recordEvent(tx, services, accountId, 'refund.requested', {
        ...told,
        cancel_until: refund.cancel_until,
      })
      break
    case 'rejected':
      await recordEvent(tx, services, accountId, 'refund.rejected', { ...told, reason: refund.reason! })
      break
    case 'sent':
      await recordEvent(tx, services, accountId, 'refund.sent', { ...told, tx_hash: refund.tx_hash! })
      break
    default:
      await recordEvent(tx, services, accountId, `refund.${what}`, told)
  }
  await announce(tx, accountId)
  const { rows } = await tx.query<{ email: string | null }>('select email from account where id = $1', [
    accountId,
  ])
  const to = rows[0]!.email
  if (to === null) return
  const sum = `${formatUsd(refund.amount)} ${refund.token} on ${told.network} to ${refund.address}`
  await queueMail(tx, services, {
    to,
    subject: `Refund of ${formatUsd(refund.amount)} USD: ${what}`,
    text: `Refund ${refund.id}: ${sum}

${explanations[what](refund)}
`,
  })
}

const explanations: Record<Parameters<typeof notifyRefund>[3], (refund: RefundRow) => string> = {
  requested: ({ id, cancel_until }) =>
    `It was asked for with a token of your account, and the amount is held. Until ${cancel_until.toISOString()} it can be taken back with cancel_refund ${id}.
If you did not ask for it, take it back now, then log in and revoke your other tokens: a stranger has your token and access to your mailbox.`,
  cancelled: () => 'It was cancelled, and the amount is on your balance again.',
  approved: () => 'The operator has approved it, and will send it.',
  rejected: ({ reason }) => `The operator has rejected it: ${reason}\nThe amount is on your balance again.`,
  sent: ({ tx_hash }) => `It was sent in transaction ${tx_hash}.`,
}
