import type { Operations } from '@coinrack/contract/index.ts'
import type { Output } from '@coinrack/contract/operation.ts'
import type { Client } from './client.ts'
import { NeverError } from './never-error.ts'
import { LONGEST_POLL_S } from './wait-for-ssh.ts'

type Invoice = Output<Operations['getInvoice']>

/**
 * Waits until an invoice is paid: each poll is answered when that happened, or after 50 s.
 * @param options.signal ends the waiting, such as `AbortSignal.timeout(600_000)`
 * @param options.onChange told what each poll showed
 * @param options.poll seconds after which a poll is answered at the latest: fewer show progress more often
 * @throws NeverError when the invoice was cancelled, has expired, or its money went to the balance
 */
export async function waitForInvoice(
  client: Pick<Client, 'getInvoice'>,
  invoiceId: string,
  options: { signal?: AbortSignal; onChange?: (invoice: Invoice) => void; poll?: number } = {},
): Promise<Invoice> {
  const { signal, onChange, poll = LONGEST_POLL_S } = options
  for (;;) {
    const invoice = await client.getInvoice(
      { invoice_id: invoiceId, wait: 'paid', timeout: poll },
      { signal },
    )
    onChange?.(invoice)
    if (invoice.status === 'paid') return invoice
    if (invoice.status !== 'unpaid' && invoice.status !== 'confirming') {
      const reason = invoice.closed_reason ? `: ${invoice.closed_reason}` : ''
      throw new NeverError(`Invoice ${invoiceId} is ${invoice.status}${reason}`)
    }
  }
}
