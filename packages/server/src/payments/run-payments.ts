import { setTimeout as sleep } from 'node:timers/promises'
import type { Services } from '../services.ts'
import { expireInvoices } from './expire-invoices.ts'
import { settleCoveredInvoices } from './settle-covered-invoices.ts'
import { type ChainReport, depositWatcher } from './watch-deposits.ts'

const INVOICES_MS = 5_000
/** After a failure the next look waits this much longer, up to the longest. */
const BACKOFF = 2
const LONGEST_MS = 60_000

/**
 * Runs the reconcilers of payments: one for each chain, at its own pace, so that a chain that is down holds up no
 * other; and those of the invoices.
 * @returns what ends them, after the step they are at
 */
export function runPayments(services: Services): () => Promise<void> {
  const end = new AbortController()
  const loops = [
    ...services.chains.map((chain) => {
      const look = depositWatcher(services, chain)
      const { network, pollMs } = chain.settings
      return repeat(end.signal, pollMs, alarm(services, network), async () => troubleOf(await look()))
    }),
    repeat(end.signal, INVOICES_MS, alarm(services, 'invoices'), async () => {
      await expireInvoices(services)
      await settleCoveredInvoices(services)
      return undefined
    }),
  ]
  return async () => {
    end.abort()
    await Promise.all(loops)
  }
}

function troubleOf({ behind, stalled }: ChainReport): Error | undefined {
  if (behind) return new Error('the chain shows fewer blocks than it did')
  return stalled ? new Error('the chain does not finalize: nothing is credited') : undefined
}

async function repeat(
  signal: AbortSignal,
  everyMs: number,
  tell: (trouble: Error | undefined) => void,
  step: () => Promise<Error | undefined>,
): Promise<void> {
  let pause = everyMs
  while (!signal.aborted) {
    try {
      tell(await step())
      pause = everyMs
    } catch (error) {
      tell(error as Error)
      pause = Math.min(pause * BACKOFF, LONGEST_MS)
    }
    await sleep(pause, undefined, { signal }).catch(() => {})
  }
}

/** Says what is wrong when it begins and when it is over, not at every look. */
function alarm({ log }: Services, subject: string): (trouble: Error | undefined) => void {
  let last: string | undefined
  return (trouble) => {
    if (trouble?.message === last) return
    last = trouble?.message
    if (trouble) log.error({ err: trouble, subject }, 'Payments are in trouble')
    else log.info({ subject }, 'Payments are well again')
  }
}
