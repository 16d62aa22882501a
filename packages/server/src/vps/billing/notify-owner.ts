import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Transaction } from '../../database/transaction.ts'
import { queueMail } from '../../platform/queue-mail.ts'
import { recordEvent } from '../../platform/record-event.ts'
import type { Services } from '../../platform/services.ts'
import type { InvoiceView } from '../../platform/slice-ports.ts'
import type { VpsRow } from '../machine/vps-store.ts'
import { minute } from './charge-periods.ts'
import { cyclePrice } from './cycle-price.ts'

/** Whether one more period can be charged, or what does not cover it. */
export type Coverage = 'covered' | 'balance' | 'budget' | 'approval' | 'permission' | 'debt'

/** The things that happen to a VPS, or to its paid time, without its owner's doing. */
export type Happening =
  /** It ends in so many days, and what the balance has then is not sure yet. */
  | { kind: 'renewal_due'; days: number; covered: Coverage; invoice: InvoiceView | undefined }
  | { kind: 'suspended'; covered: Coverage; invoice: InvoiceView | undefined }
  | { kind: 'resumed' }
  | { kind: 'deleted' }
  /** It is moved to another host, and powered off for that. */
  | { kind: 'maintenance'; from: Date }
  /** With its host; `credited` is in micro-USD. */
  | { kind: 'lost'; since: Date; credited: bigint }

type Facts = Pick<
  VpsRow,
  | 'id'
  | 'account_id'
  | 'hostname'
  | 'product'
  | 'cycle'
  | 'price'
  | 'price_hourly'
  | 'paid_until'
  | 'auto_renew'
  | 'cancel_at_period_end'
  | 'delete_at'
>

/** The one door for all of it: in the transaction of what happens, so that it is told once, and only if it did. */
export async function notifyOwner(
  tx: Transaction,
  services: Services,
  row: Facts,
  happening: Happening,
): Promise<void> {
  const { subject, text } = mailAbout(row, happening, services.config.publicUrl)
  const { rows } = await tx.query<{ email: string | null }>('select email from account where id = $1', [
    row.account_id,
  ])
  await queueMail(tx, services, { to: rows[0]!.email, subject, text })
  await tellByEvent(tx, services, row, happening)
}

/** Tells what the change of its status does not tell. */
async function tellByEvent(tx: Transaction, services: Services, row: Facts, happening: Happening) {
  const about = { service_id: row.id, hostname: row.hostname }
  const paid = { ...about, paid_until: row.paid_until! }
  switch (happening.kind) {
    case 'renewal_due':
      await recordEvent(tx, services, row.account_id, 'vps.renewal_due', {
        ...paid,
        days: happening.days,
        price: cyclePrice(row),
        auto_renew: row.auto_renew,
        covered: happening.covered === 'covered',
        invoice_id: happening.invoice?.id ?? null,
      })
      break
    case 'suspended':
      await recordEvent(tx, services, row.account_id, 'vps.suspended', {
        ...paid,
        delete_at: row.delete_at!,
        invoice_id: happening.invoice?.id ?? null,
      })
      break
    case 'resumed':
      await recordEvent(tx, services, row.account_id, 'vps.resumed', paid)
      break
    case 'deleted':
      await recordEvent(tx, services, row.account_id, 'vps.deleted', paid)
      break
    case 'maintenance':
      await recordEvent(tx, services, row.account_id, 'vps.maintenance', { ...about, from: happening.from })
      break
    case 'lost': {
      const { since, credited } = happening
      await recordEvent(tx, services, row.account_id, 'vps.lost', { ...about, since, credited })
    }
  }
}

/** Pure: what is written to the owner. */
export function mailAbout(row: Facts, happening: Happening, url: string): { subject: string; text: string } {
  const until = minute(row.paid_until!)
  const price = `${formatUsd(cyclePrice(row))} USD`
  const about = `VPS ${row.hostname} (${row.product}, ${row.id}) at ${url}`
  const mail = (subject: string, ...lines: (string | undefined)[]) => ({
    subject,
    text: `${about}\n\n${lines.filter((line) => line !== undefined).join('\n')}\n`,
  })
  switch (happening.kind) {
    case 'renewal_due': {
      const days = happening.days === 1 ? 'one day' : `${happening.days} days`
      if (row.cancel_at_period_end) {
        return mail(
          `${row.hostname} ends in ${days}`,
          `It was cancelled: at ${until} it and its disk are deleted.`,
          'To keep it, call renew_service or set_auto_renew.',
        )
      }
      if (!row.auto_renew) {
        return mail(
          `${row.hostname} is paid for ${days} more`,
          `Its paid time ends at ${until}. Then it is suspended and powered off.`,
          `To keep it running, call renew_service (${price} a month) or set_auto_renew.`,
        )
      }
      return mail(
        `${row.hostname} renews in ${days}`,
        `At ${until} ${price} are charged to your balance for another month.`,
        {
          covered: 'The balance covers that now. There is nothing to do.',
          balance:
            'The balance does not cover that now: top it up before, or the VPS is suspended and powered off.',
          budget:
            'The budget of the token that ordered it does not allow that now: raise it with update_token before, or the VPS is suspended and powered off.',
          approval:
            'That is above approve_above of the token that ordered it or renews it, and a person has to approve it: call renew_service before, or the VPS is suspended and powered off.',
          permission:
            'allow_auto_renew of the token by which it renews itself was withdrawn: allow it with update_token, or call set_auto_renew with another token before; else the VPS is suspended and powered off.',
          debt: 'The account owes for a payment that its chain took back: top up before, or the VPS is suspended and powered off.',
        }[happening.covered],
        payableAt(happening.invoice),
      )
    }
    case 'suspended': {
      if (happening.covered === 'debt') {
        return mail(
          `${row.hostname} is suspended`,
          'The account owes for a payment that its chain took back.',
          `It is powered off. At ${minute(row.delete_at!)} it and its disk are deleted.`,
          'To keep it, top up what is owed (get_balance): paid time goes on by itself then.',
        )
      }
      if (row.auto_renew && happening.covered === 'permission') {
        return mail(
          `${row.hostname} is suspended`,
          `Its paid time ended at ${until}, and allow_auto_renew of the token by which it renews itself was withdrawn.`,
          `It is powered off. At ${minute(row.delete_at!)} it and its disk are deleted.`,
          `To keep it, call renew_service (${price}), or set_auto_renew with a token that may.`,
        )
      }
      if (row.auto_renew && happening.covered === 'approval') {
        return mail(
          `${row.hostname} is suspended`,
          `Its paid time ended at ${until}, and more is above approve_above of the token that ordered it or renews it.`,
          `It is powered off. At ${minute(row.delete_at!)} it and its disk are deleted.`,
          `To keep it, call renew_service (${price}), and approve that if it is asked for.`,
        )
      }
      const missing = happening.covered === 'budget' ? 'budget of the token that ordered it' : 'balance'
      return mail(
        `${row.hostname} is suspended`,
        `Its paid time ended at ${until}${row.auto_renew ? `, and the ${missing} did not cover more` : ''}.`,
        `It is powered off. At ${minute(row.delete_at!)} it and its disk are deleted.`,
        row.auto_renew && happening.covered === 'budget'
          ? `To keep it, raise that budget with update_token, or call renew_service (${price}).`
          : row.auto_renew
            ? `To keep it, top up the balance: with ${price} it goes on by itself.`
            : `To keep it, call renew_service (${price}).`,
        payableAt(happening.invoice),
      )
    }
    case 'resumed':
      return mail(`${row.hostname} goes on`, `It was paid until ${until} and is started again.`)
    case 'deleted':
      return mail(
        `${row.hostname} was deleted`,
        `Its paid time ended at ${until}. It and its disk are deleted.`,
      )
    case 'maintenance':
      return mail(
        `${row.hostname} is restarted for maintenance`,
        `It moves to another host. For that it is powered off once, at ${minute(happening.from)} or later, and started again some minutes after.`,
        'Its disk and its address stay the same. There is nothing to do; to choose the moment yourself, stop it before (power_vps), and it moves while it is off.',
      )
    case 'lost':
      return mail(
        `${row.hostname} was lost`,
        `The host that it ran on failed for good, and its disk with it. It was last seen at ${minute(happening.since)}.`,
        `${formatUsd(happening.credited)} USD, what was paid for the time since, are back on your balance.`,
        'To go on, order another one and restore your own backups to it.',
      )
  }
}

const payableAt = (invoice: InvoiceView | undefined): string | undefined =>
  invoice && `Or pay this renewal by itself, in stablecoins: ${invoice.checkout_url}`
