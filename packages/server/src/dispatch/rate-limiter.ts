import type { RateClass } from '@coinrack/contract/operation.ts'
import { rateSubjects } from '@coinrack/contract/rates.ts'
import type { RateClassName } from '../config/config.ts'
import type { Rate } from '../config/config-values.ts'
import { OperationError } from '../platform/errors.ts'
import type { Services } from '../platform/services.ts'
import { addressBlock, addressNetwork } from './address-block.ts'

/** Headers of an answer that say what is left (RFC draft "RateLimit header fields"). */
type RateHeaders = Record<string, string>

/** A call that was let through. */
export interface Taken {
  headers: RateHeaders
  /**
   * Undoes the count after the call was refused and changed nothing. The class `default` keeps its own count, so that
   * refused calls are not free. @returns the headers that then hold
   */
  giveBack(): Promise<RateHeaders>
}

/** Limits how often. */
export interface RateLimiter {
  /** @throws OperationError `rate_limited` */
  take(rateClass: RateClass, accountId: string | undefined, address: string): Promise<Taken>
  /**
   * Counts the use of an unknown token.
   * @throws OperationError `rate_limited`
   */
  takeBadToken(address: string): Promise<void>
}

/** Buckets in memory are dropped, all at once, beyond this many: forgetting only forgives. */
const MOST_BUCKETS = 100_000

interface Bucket {
  tokens: number
  updatedAt: number
}

/**
 * Token buckets: each class holds `limit` tokens and refills at `limit` in `windowSeconds`. All but
 * `default` are exact over all replicas, in PostgreSQL; that one is counted by each replica, and it
 * counts every call of an account, also one that has a class of its own.
 *
 * A clock that is set back refills nothing, and the buckets go on from the time that it shows.
 */
export function createRateLimiter({ config, db, clock, log }: Services): RateLimiter {
  const memory = new Map<string, Bucket>()

  function takeFromMemory(subject: string, rate: Rate): number {
    if (memory.size > MOST_BUCKETS) memory.clear()
    const now = clock.now().getTime()
    const bucket = memory.get(subject) ?? { tokens: rate.limit, updatedAt: now }
    const refill = (Math.max(0, now - bucket.updatedAt) * rate.limit) / (rate.windowSeconds * 1000)
    const tokens = Math.min(rate.limit, bucket.tokens + refill)
    memory.set(subject, { tokens: tokens >= 1 ? tokens - 1 : tokens, updatedAt: now })
    return tokens - 1
  }

  // One statement, so that two takers cannot both have the last token. The division comes last: a third of a token, rounded,
  // three times over is less than one, and the call that waited as long as it was told would be refused.
  async function takeFromDatabase(subject: string, rate: Rate): Promise<number> {
    const values = [subject, rate.limit, rate.windowSeconds, clock.now()]
    const { rows } = await db.query<{ left: number }>(
      `insert into rate_bucket as bucket (subject, tokens, updated_at) values ($1, $2::float8 - 1, $4)
       on conflict (subject) do update set
         tokens = least($2::float8, bucket.tokens + greatest(0, extract(epoch from $4 - bucket.updated_at))::float8 * $2::float8 / $3::float8) - 1,
         updated_at = $4
         where least($2::float8, bucket.tokens + greatest(0, extract(epoch from $4 - bucket.updated_at))::float8 * $2::float8 / $3::float8) >= 1
       returning tokens as left`,
      values,
    )
    if (rows[0]) return rows[0].left
    const { rows: full } = await db.query<{ left: number }>(
      `update rate_bucket set updated_at = least(updated_at, $4) where subject = $1
       returning least($2::float8, tokens + greatest(0, extract(epoch from $4 - updated_at))::float8 * $2::float8 / $3::float8) - 1 as left`,
      values,
    )
    return full[0]?.left ?? -1
  }

  async function takeOne(name: RateClassName, who: string, times = 1): Promise<RateHeaders> {
    const { limit, windowSeconds } = config.rates[name]
    const rate = { limit: limit * times, windowSeconds }
    const subject = `${name}:${who}`
    const left = name === 'default' ? takeFromMemory(subject, rate) : await takeFromDatabase(subject, rate)
    const headers = headersOf(name, rate, left)
    if (left >= 0) return headers
    throw new OperationError('rate_limited', `More than ${rate.limit} in ${rate.windowSeconds} s`, {
      retryAfter: secondsFor(rate, -left),
      headers,
    })
  }

  async function giveBack(name: RateClassName, who: string, headers: RateHeaders): Promise<RateHeaders> {
    const rate = config.rates[name]
    try {
      const { rows } = await db.query<{ left: number }>(
        'update rate_bucket set tokens = least($2::float8, tokens + 1) where subject = $1 returning tokens as left',
        [`${name}:${who}`, rate.limit],
      )
      return headersOf(name, rate, rows[0]?.left ?? rate.limit)
    } catch (error) {
      // The refusal is still the answer; one call is counted too many.
      log.warn({ err: error }, 'A refused call was counted')
      return headers
    }
  }

  /** Counts an address, and the network that it lies in: who has a /48 has 65,536 times a /64. */
  async function takeAddress(name: RateClassName, address: string): Promise<RateHeaders> {
    const headers = await takeOne(name, addressBlock(address))
    const network = addressNetwork(address)
    if (network !== undefined) await takeOne(name, network, config.rateNetworkTimes)
    return headers
  }

  return {
    async take(rateClass, accountId, address) {
      if (rateSubjects[rateClass] !== 'account' || accountId === undefined) {
        const headers = await takeAddress(rateClass, address)
        // After the address, so that one that asks too often does not use up what is for all.
        const total = accountId === undefined ? totals[rateClass] : undefined
        if (total) await takeOne(total, 'all')
        return { headers, giveBack: async () => headers }
      }
      const general = await takeOne('default', accountId)
      if (rateClass === 'default') return { headers: general, giveBack: async () => general }
      const headers = await takeOne(rateClass, accountId)
      return { headers, giveBack: () => giveBack(rateClass, accountId, headers) }
    },
    async takeBadToken(address) {
      await takeAddress('badTokens', address)
    },
  }
}

const secondsFor = (rate: Rate, tokens: number) => Math.ceil((tokens * rate.windowSeconds) / rate.limit)

const headersOf = (name: RateClassName, rate: Rate, left: number): RateHeaders => ({
  'ratelimit-policy': `"${name}";q=${rate.limit};w=${rate.windowSeconds}`,
  ratelimit: `"${name}";r=${Math.max(0, Math.floor(left))};t=${secondsFor(rate, Math.max(0, rate.limit - Math.max(0, left)))}`,
})

/** The limits of all strangers together. */
const totals: Partial<Record<RateClass, RateClassName>> = { register: 'registerTotal', login: 'loginTotal' }

/** Forgets buckets that are full again, whatever their class. Takes no input. */
export async function forgetFullBuckets({ config, db, clock }: Services): Promise<void> {
  const longest = Math.max(...Object.values(config.rates).map(({ windowSeconds }) => windowSeconds))
  await db.query('delete from rate_bucket where updated_at < $1', [
    new Date(clock.now().getTime() - longest * 1000),
  ])
}
