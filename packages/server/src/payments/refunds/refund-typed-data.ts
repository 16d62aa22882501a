import { formatUsd } from '@coinrack/contract/wire.ts'
import { type Address, getAddress, type Hex, recoverTypedDataAddress } from 'viem'

/** The data that the key of an address signs to have a refund paid to that address. */
export interface RefundToSign {
  /** The public URL of the service: a signature for another service is invalid here. */
  service: string
  accountId: string
  chainId: number
  /** micro-USD */
  amount: bigint
  token: string
  tokenAddress: Address
  address: Address
  expiresAt: Date
}

const types = {
  Refund: [
    { name: 'service', type: 'string' },
    { name: 'account', type: 'string' },
    { name: 'amount', type: 'string' },
    { name: 'token', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'expires', type: 'string' },
  ],
} as const

/** The refund as typed structured data (EIP-712), worded so that a wallet can show it to a person. */
export const refundTypedData = (refund: RefundToSign) => ({
  domain: { name: 'Coinrack refund', version: '1', chainId: refund.chainId },
  types,
  primaryType: 'Refund' as const,
  message: {
    service: refund.service,
    account: refund.accountId,
    amount: `${formatUsd(refund.amount)} ${refund.token}`,
    token: getAddress(refund.tokenAddress),
    to: getAddress(refund.address),
    expires: refund.expiresAt.toISOString(),
  },
})

/** Whether the key of the address made this signature. It asks no chain, since contracts cannot sign refunds. */
export async function isSigned(refund: RefundToSign, signature: Hex): Promise<boolean> {
  const signer = await recoverTypedDataAddress({ ...refundTypedData(refund), signature }).catch(
    () => undefined,
  )
  return signer?.toLowerCase() === refund.address.toLowerCase()
}
