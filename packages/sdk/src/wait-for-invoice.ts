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
 * @throws NeverError when the invoice was cancelled or has expired
 */
export async function waitForInvoice(
  client: Pick<Client, 'getInvoice'>,
  invoiceId: string,
  { signal, onChange }: { signal?: AbortSignal; onChange?: (invoice: Invoice) => void } = {},
): Promise<Invoice> {
  for (;;) {
    const invoice = await client.getInvoice(
      { invoice_id: invoiceId, wait: 'paid', timeout: LONGEST_POLL_S },
      { signal },
    )
    onChange?.(invoice)
    if (invoice.status === 'paid') return invoice
    if (invoice.status === 'expired' || invoice.status === 'cancelled') {
      throw new NeverError(`Invoice ${invoiceId} is ${invoice.status}`)
    }
  }
}
