import type { RateClass } from '@coinrack/contract/operation.ts'
import { rateSubjects } from '@coinrack/contract/rates.ts'
import type { RateClassName } from './config.ts'
import type { Rate } from './config-values.ts'
import { OperationError } from './errors.ts'
import type { Services } from './services.ts'

/** Limits how often. An answer carries the headers that `take` returns (RFC draft "RateLimit header fields"). */
export interface RateLimiter {
  /** @throws OperationError `rate_limited` */
  take(rateClass: RateClass, accountId: string | undefined, address: string): Promise<Record<string, string>>
  /** Counts a token that nobody has. @throws OperationError `rate_limited` */
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
 * the class of everything else are exact over all replicas, in PostgreSQL; that one is counted by each replica.
 */
export function createRateLimiter({ config, db, clock }: Services): RateLimiter {
  const memory = new Map<string, Bucket>()

  function takeFromMemory(subject: string, rate: Rate): number {
    if (memory.size > MOST_BUCKETS) memory.clear()
    const now = clock.now().getTime()
    const bucket = memory.get(subject) ?? { tokens: rate.limit, updatedAt: now }
    const refill = ((now - bucket.updatedAt) / 1000) * (rate.limit / rate.windowSeconds)
    const left = Math.min(rate.limit, bucket.tokens + refill) - 1
    if (left >= 0) memory.set(subject, { tokens: left, updatedAt: now })
    return left
  }

  // One statement, so that two takers cannot both have the last token.
  async function takeFromDatabase(subject: string, rate: Rate): Promise<number> {
    const { rows } = await db.query<{ left: number }>(
      `insert into rate_bucket as bucket (subject, tokens, updated_at) values ($1, $2 - 1, $4)
       on conflict (subject) do update set
         tokens = least($2, bucket.tokens + greatest(0, extract(epoch from $4 - bucket.updated_at)) * $3) - 1,
         updated_at = $4
         where least($2, bucket.tokens + greatest(0, extract(epoch from $4 - bucket.updated_at)) * $3) >= 1
       returning tokens as left`,
      [subject, rate.limit, rate.limit / rate.windowSeconds, clock.now()],
    )
    if (rows[0]) return rows[0].left
    const { rows: full } = await db.query<{ left: number }>(
      `select least($2, tokens + greatest(0, extract(epoch from $4 - updated_at)) * $3) - 1 as left
       from rate_bucket where subject = $1`,
      [subject, rate.limit, rate.limit / rate.windowSeconds, clock.now()],
    )
    return full[0]?.left ?? -1
  }

  async function takeOne(name: RateClassName, who: string): Promise<Record<string, string>> {
    const rate = config.rates[name]
    const subject = `${name}:${who}`
    const left = name === 'default' ? takeFromMemory(subject, rate) : await takeFromDatabase(subject, rate)
    const policy = `"${name}";q=${rate.limit};w=${rate.windowSeconds}`
    const secondsFor = (tokens: number) => Math.ceil((tokens * rate.windowSeconds) / rate.limit)
    const headers = {
      'ratelimit-policy': policy,
      ratelimit: `"${name}";r=${Math.max(0, Math.floor(left))};t=${secondsFor(Math.max(0, rate.limit - Math.max(0, left)))}`,
    }
    if (left >= 0) return headers
    throw new OperationError('rate_limited', `More than ${rate.limit} in ${rate.windowSeconds} s`, {
      retryAfter: secondsFor(-left),
      headers,
    })
  }

  return {
    take(rateClass, accountId, address) {
      const byAccount = rateSubjects[rateClass] === 'account' && accountId !== undefined
      return takeOne(rateClass, byAccount ? accountId : addressBlock(address))
    },
    async takeBadToken(address) {
      await takeOne('badTokens', addressBlock(address))
    },
  }
}

/** What one caller can easily have many of counts as one: an IPv6 /64. */
export function addressBlock(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped) return mapped[1]!
  if (!address.includes(':')) return address
  const [head = '', tail = ''] = address.split('%')[0]!.split('::')
  const before = head ? head.split(':') : []
  const after = tail ? tail.split(':') : []
  const groups = address.includes('::')
    ? [...before, ...Array(Math.max(0, 8 - before.length - after.length)).fill('0'), ...after]
    : before
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
