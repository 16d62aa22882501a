import { type Client, formatUsd, NeverError, waitForInvoice } from '@coinrack/sdk/index.ts'
import type { Command } from 'commander'
import { renderUnicodeCompact } from 'uqr'
import type { Call } from './call.ts'
import { type ExitCode, exitCodes, RefusedError } from './exit-codes.ts'
import { number } from './number-option.ts'
import { InterruptedError } from './terminal.ts'
import { TimeoutError, waitLimit } from './wait-limit.ts'

type Invoice = Awaited<ReturnType<Client['getInvoice']>>
type Option = Invoice['payment_options'][number]

export interface PayOptions {
  network?: string
  token?: string
  wait: boolean
  qr: boolean
  timeout?: number
}

/** Progress of confirmations is asked for so often, in seconds. */
const POLL_S = 5

export const withPayOptions = (command: Command) =>
  command
    .option('--network <name>', 'base, ethereum or polygon')
    .option('--token <symbol>', 'USDC, USDT or PYUSD')
    .option('--timeout <seconds>', 'how long to wait for the money', number)
    .option('--no-wait', 'do not wait for the money')
    .option('--no-qr', 'no picture for a wallet on a phone')

/**
 * Shows how to pay an invoice by a transfer of tokens, and waits until it is paid.
 * @returns the exit code
 */
export async function payByTransfer(
  call: Call,
  client: Client,
  invoice: Invoice,
  { network, token, wait, qr, timeout }: PayOptions,
): Promise<ExitCode | undefined> {
  if (isClosed(invoice)) {
    call.show(invoice, () => `${invoice.id} is ${invoice.status}`)
    return invoice.status === 'paid' ? exitCodes.done : exitCodes.never
  }
  // Once the money was seen, nothing more has to be sent.
  if (invoice.status === 'unpaid') showOption(call, invoice, choose(invoice, network, token), qr)
  if (!wait) {
    call.show(invoice, () =>
      invoice.status === 'unpaid' ? choose(invoice, network, token).uri : invoice.status,
    )
    return
  }
  const { terminal } = call
  const line = call.waiting(`invoice ${invoice.id}`)
  const limit = waitLimit(terminal, timeout)
  try {
    const paid = await waitForInvoice(client, invoice.id, {
      signal: limit.signal,
      poll: POLL_S,
      onChange: (seen) => line.note(progressOf(seen)),
    })
    line.end('paid')
    const { balance } = await client.getBalance()
    call.show(
      paid,
      () => `${formatUsd(paid.received)} USD received; the balance is ${formatUsd(balance)} USD`,
    )
    return
  } catch (error) {
    line.end()
    if (error instanceof InterruptedError || error instanceof TimeoutError || terminal.signal.aborted)
      call.say(`It is not paid yet. Go on with: coinrack pay ${invoice.id}`)
    if (error instanceof NeverError) call.say('Money that still arrives is credited to the balance')
    throw error
  } finally {
    limit.clear()
  }
}

function showOption(call: Call, invoice: Invoice, option: Option, qr: boolean): void {
  const hasPicture = qr && call.terminal.stderr.isTTY === true
  call.say(
    [
      `Send ${formatUsd(option.amount)} ${option.token} on ${option.network} to`,
      `  ${option.address}`,
      `or pay at ${invoice.checkout_url}`,
      `${invoice.id}, until ${invoice.expires_at.toISOString()}`,
      ...(hasPicture ? ['', renderUnicodeCompact(option.uri, { border: 2 })] : []),
    ].join('\n'),
  )
}

const isClosed = ({ status }: Invoice) => status !== 'unpaid' && status !== 'confirming'

function choose(invoice: Invoice, network: string | undefined, token: string | undefined): Option {
  const options = invoice.payment_options
  const found = options.find(
    (option) =>
      (network === undefined || option.network === network.toLowerCase()) &&
      (token === undefined || option.token === token.toUpperCase()),
  )
  if (found) return found
  const offered = options.map((option) => `${option.token} on ${option.network}`).join(', ')
  throw new RefusedError(
    `The invoice cannot be paid so. It takes ${offered || 'no payment now'}`,
    exitCodes.usage,
  )
}

function progressOf({ status, payments }: Invoice): string {
  const seen = payments.filter((payment) => payment.status === 'seen')
  if (seen.length === 0) return status === 'unpaid' ? 'waiting for the transfer' : status
  return seen
    .map(({ amount, token, confirmations, required }) => {
      const of = /^\d+$/.test(required)
        ? `${confirmations} of ${required} blocks`
        : `until the block is ${required}`
      return `${formatUsd(amount)} ${token} seen, ${of}`
    })
    .join('; ')
}
