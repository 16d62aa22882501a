import type { Services } from '../../platform/services.ts'

/** The prices of a plan, in micro-USD. */
interface Prices {
  price: bigint
  price_hourly: bigint
}

const LIFETIME_MS = 15 * 60_000
const contextOf = (accountId: string) => `quote:${accountId}`

/** Promises one account the prices of a plan for a while. It is all in the identifier, sealed; nothing is stored. */
export function makeQuote(
  { sealer, clock }: Services,
  accountId: string,
  plan: Prices & { slug: string },
): { id: string; expires_at: Date } {
  const expiresAt = new Date(clock.now().getTime() + LIFETIME_MS)
  const text = [plan.slug, plan.price, plan.price_hourly, expiresAt.toISOString()].join(' ')
  return { id: sealer.seal(text, contextOf(accountId)).toString('base64url'), expires_at: expiresAt }
}

/** The prices that a quote promises; undefined for one that is over, of another plan or account, or not ours. */
export function readQuote(
  services: Services,
  accountId: string,
  id: string,
  product: string,
): Prices | undefined {
  const text = open(services, accountId, id)
  if (text === undefined) return undefined
  const [slug, price, priceHourly, expiresAt] = text.split(' ') as [string, string, string, string]
  if (slug !== product || services.clock.now() >= new Date(expiresAt)) return undefined
  return { price: BigInt(price), price_hourly: BigInt(priceHourly) }
}

function open({ sealer }: Services, accountId: string, id: string): string | undefined {
  try {
    return sealer.open(Buffer.from(id, 'base64url'), contextOf(accountId))
  } catch {
    return undefined
  }
}
