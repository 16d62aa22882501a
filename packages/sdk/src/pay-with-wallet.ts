import type { Operations } from '@coinrack/contract/index.ts'
import type { Output } from '@coinrack/contract/operation.ts'
import type { Client } from './client.ts'
import { waitForInvoice } from './wait-for-invoice.ts'

type Invoice = Output<Operations['getInvoice']>
type PaymentOption = Invoice['payment_options'][number]

/** The part of a wallet client of viem that is needed: one with an account and a chain. */
export interface Wallet {
  chain?: { id: number } | undefined
  writeContract(
    call: {
      address: `0x${string}`
      abi: typeof TRANSFER
      functionName: 'transfer'
      args: [`0x${string}`, bigint]
      // The rest has a default in every wallet, and its types differ from one version to the next.
      // biome-ignore lint/suspicious/noExplicitAny: see above
    } & any,
  ): Promise<`0x${string}`>
}

/** `transfer` of ERC-20 (EIP-20). */
const TRANSFER = [
  {
    type: 'function',
    name: 'transfer',
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
    ],
    outputs: [{ name: '', type: 'bool' }],
  },
] as const

/** The wallet's network takes no part in the payment of this invoice. */
export class NoPaymentOptionError extends Error {
  override readonly name = 'NoPaymentOptionError'
}

/**
 * Pays an invoice from a wallet by one transfer of tokens, and waits until it is credited.
 * @param invoice of `topupBalance`, or of the 402 of an order (`error.body.invoice`)
 * @param options.wallet a wallet client of viem, on one of the networks of the invoice
 * @param options.token the symbol, such as `USDC`, which is the default
 * @returns the hash of the transaction, and the invoice as it is once it is paid
 * @throws NoPaymentOptionError before anything is sent; what the wallet throws; NeverError when the invoice has ended meanwhile: money that
 * arrives late is credited to the balance all the same
 */
export async function payWithWallet(
  client: Pick<Client, 'getInvoice'>,
  invoice: Pick<Invoice, 'id' | 'payment_options'>,
  options: {
    wallet: Wallet
    token?: string
    signal?: AbortSignal
    onChange?: (invoice: Invoice) => void
  },
): Promise<{ hash: `0x${string}`; invoice: Invoice }> {
  const { wallet, token = 'USDC', ...waiting } = options
  const option = optionFor(invoice.payment_options, wallet.chain?.id, token)
  const hash = await wallet.writeContract({
    address: option.token_address as `0x${string}`,
    abi: TRANSFER,
    functionName: 'transfer',
    args: [option.address as `0x${string}`, BigInt(option.amount_atomic)],
  })
  return { hash, invoice: await waitForInvoice(client, invoice.id, waiting) }
}

function optionFor(options: PaymentOption[], chainId: number | undefined, token: string): PaymentOption {
  const option = options.find((one) => one.chain_id === chainId && one.token === token)
  if (option) return option
  const offered = options.map((one) => `${one.token} on ${one.network} (chain ${one.chain_id})`).join(', ')
  throw new NoPaymentOptionError(
    `The invoice cannot be paid in ${token} on chain ${chainId ?? 'of a wallet without a chain'}. It takes ${offered || 'no payment any more'}.`,
  )
}
