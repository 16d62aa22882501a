import { createHash, randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CoinrackError } from '@coinrack/sdk/index.ts'
import { configFolder, readPrivate, writePrivate } from './config-folder.ts'
import type { Terminal } from './terminal.ts'

/** After that the service no longer knows the key, and the order is a new one. */
const KEPT_MS = 24 * 3_600_000

/**
 * Places an order under an idempotency key that is kept until an answer came: killed before that, the same command orders no second VPS
 * but reads what became of the first.
 */
export async function asOneOrder<T>(
  { env, now }: Pick<Terminal, 'env' | 'now'>,
  order: { url: string; input: unknown },
  place: (idempotencyKey: string) => Promise<T>,
): Promise<T> {
  const path = join(configFolder(env), 'pending-order.json')
  const digest = createHash('sha256').update(JSON.stringify(order)).digest('hex')
  const kept = await readPrivate(path).then((text) => (text ? parse(text) : undefined))
  const goesOn = kept?.digest === digest && now() - kept.at < KEPT_MS
  const key = goesOn ? kept.key : randomBytes(16).toString('hex')
  await writePrivate(path, JSON.stringify({ digest, key, at: goesOn ? kept.at : now() }))
  try {
    const placed = await place(key)
    await rm(path, { force: true })
    return placed
  } catch (error) {
    // An answer is an answer; without one the order may have been placed.
    if (error instanceof CoinrackError && error.code !== 'unexpected_answer') await rm(path, { force: true })
    throw error
  }
}

function parse(text: string): { digest: string; key: string; at: number } | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
