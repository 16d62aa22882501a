import { type Address, getAddress, type Hex, isAddress, isAddressEqual, isHex } from 'viem'
import { z } from 'zod'
import type { Chain } from '../../chain/chain-port.ts'
import type { AuthorizedTransfer } from '../../chain/gas-wallet.ts'
import { PaymentRefused } from './payment-refused.ts'
import type { PaymentTerms } from './payment-terms.ts'

/** Longer than any signature of a contract account that is worth its gas. */
const LONGEST_SIGNATURE = 4_096
const LARGEST = 2n ** 256n

const AddressText = z
  .string()
  .refine((text) => isAddress(text, { strict: false }), 'Expected an address')
  .transform((text): Address => getAddress(text))
const HexText = (longest: number) =>
  z
    .string()
    .max(longest)
    .refine((text): text is Hex => isHex(text) && text.length % 2 === 0, 'Expected hexadecimal digits')
const Uint256 = z
  .string()
  .regex(/^\d{1,78}$/, 'Expected a whole number')
  .transform(BigInt)
  .refine((number) => number < LARGEST, 'Expected at most 256 bits')

/** The PaymentPayload of x402 version 2, for the scheme `exact` by EIP-3009. */
const Payment = z.object({
  x402Version: z.literal(2),
  accepted: z.object({
    scheme: z.string(),
    network: z.string(),
    asset: z.string(),
    extra: z.object({ quote: z.string().max(2_000).optional() }).optional(),
  }),
  payload: z.object({
    signature: HexText(LONGEST_SIGNATURE),
    authorization: z.object({
      from: AddressText,
      to: AddressText,
      value: Uint256,
      validAfter: Uint256,
      validBefore: Uint256,
      nonce: HexText(66).refine((text) => text.length === 66, 'Expected 32 bytes'),
    }),
  }),
})

/** The PaymentPayload of version 1, from its header X-PAYMENT: it names the network by a word, and no token. */
const OlderPayment = z.object({
  x402Version: z.literal(1),
  scheme: z.string(),
  network: z.string(),
  payload: z.unknown(),
})

/** Converts a payment of version 1 to version 2. Clients of version 1 pay with USDC. */
function renewed({ scheme, network, payload }: z.output<typeof OlderPayment>, chains: Chain[]) {
  const settings = chains.find((chain) => chain.settings.network === network)?.settings
  const asset = settings?.tokens.find(({ symbol }) => symbol === 'USDC')?.address ?? 'none'
  return {
    x402Version: 2,
    accepted: { scheme, network: settings ? `eip155:${settings.chainId}` : network, asset },
    payload,
  }
}

/**
 * Reads a payment, and finds the terms that it meets: its network and token have to match, and the signed amount and
 * address exactly.
 * @param presented JSON in base64, or the parsed value
 * @throws PaymentRefused
 */
export function readPayment(
  presented: unknown,
  terms: PaymentTerms[],
): PaymentTerms & { transfer: AuthorizedTransfer } {
  const { accepted, payload } = parse(
    presented,
    terms.map(({ chain }) => chain),
  )
  const { authorization, signature } = payload
  const signed = signedIn(accepted, { ...authorization, signature })
  const notAccepted = (message: string) =>
    new PaymentRefused('payment_not_accepted', message, signed && { signed })
  const meant = terms.find(
    ({ requirements: { scheme, network, asset } }) =>
      scheme === accepted.scheme &&
      network === accepted.network &&
      asset.toLowerCase() === accepted.asset.toLowerCase(),
  )
  if (!meant) {
    const wanted = `${accepted.scheme} of ${accepted.asset} on ${accepted.network}`.slice(0, 200)
    throw notAccepted(`Not asked for: ${wanted}`)
  }
  const { amount, payTo, asset } = meant.requirements
  if (authorization.value !== BigInt(amount)) {
    throw notAccepted(`${authorization.value} is signed, and ${amount} was asked for`)
  }
  if (!isAddressEqual(authorization.to, payTo as Address)) {
    throw notAccepted(`${authorization.to} is paid, and not ${payTo}`)
  }
  return { ...meant, transfer: { ...authorization, signature, token: asset as Address } }
}

/** The transfer that a payment signs, whatever its purpose; undefined when it cannot be read. */
export function signedBy(presented: unknown, chains: Chain[]): PaymentRefused['signed'] {
  try {
    const { accepted, payload } = parse(presented, chains)
    return signedIn(accepted, { ...payload.authorization, signature: payload.signature })
  } catch (error) {
    if (error instanceof PaymentRefused) return undefined
    throw error
  }
}

function parse(presented: unknown, chains: Chain[]): z.output<typeof Payment> {
  const given = typeof presented === 'string' ? decode(presented) : presented
  const older = OlderPayment.safeParse(given)
  const result = Payment.safeParse(older.success ? renewed(older.data, chains) : given)
  if (result.success) return result.data
  const reasons = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  throw new PaymentRefused('payment_malformed', `The payment cannot be read: ${reasons.join('; ')}`)
}

/**
 * Reads the signed transfer before its purpose is known, with its chain and the quote that it came with.
 * @throws PaymentRefused
 */
export function readSigned(
  presented: unknown,
  chains: Chain[],
): { chain: Chain; transfer: AuthorizedTransfer; quote: string | undefined } {
  const { accepted, payload } = parse(presented, chains)
  const signed = signedIn(accepted, { ...payload.authorization, signature: payload.signature })
  const chain = chains.find(({ settings }) => settings.chainId === signed?.chainId)
  if (!signed || !chain?.gasWallet)
    throw new PaymentRefused('payment_not_accepted', `Not asked for: ${accepted.network}`.slice(0, 200))
  return { chain, transfer: signed.transfer, quote: accepted.extra?.quote }
}

/** The signed transfer; undefined unless it names a chain and a token. */
function signedIn(
  { network, asset }: { network: string; asset: string },
  transfer: Omit<AuthorizedTransfer, 'token'>,
): PaymentRefused['signed'] {
  const chainId = /^eip155:(\d{1,9})$/.exec(network)?.[1]
  if (chainId === undefined || !isAddress(asset, { strict: false })) return undefined
  return { chainId: Number(chainId), transfer: { ...transfer, token: asset } }
}

function decode(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64').toString('utf8'))
  } catch {
    throw new PaymentRefused('payment_malformed', 'The payment is not JSON in base64')
  }
}
