import type { Chain } from '../chain/chain-port.ts'
import { repeat } from '../platform/background.ts'
import { EVERYTHING } from '../platform/everything.ts'
import { reportedPass } from '../platform/pass-report.ts'
import type { Services } from '../platform/services.ts'
import { knownAddresses } from './deposit-address-store.ts'
import { expireInvoices } from './expire-invoices.ts'
import { type ChainReport, depositWatcher } from './watch-deposits.ts'
import { settlePayments } from './x402/settle-payments.ts'
import { gasWatcher } from './x402/watch-gas.ts'

const INVOICES_MS = 5_000
const X402_MS = 5_000
const GAS_MS = 30_000
/** Healthy endpoints differ by fewer blocks than this, depending on which of them answers first. */
const FEW_BLOCKS = 16

/**
 * Runs the reconcilers of payments: one for each chain, at its own pace, so that a chain that is down holds up no
 * other; and those of the invoices, payments by x402 and gas wallets.
 * @returns a function that stops them after their current step
 */
export function runPayments(services: Services): () => Promise<void> {
  const end = new AbortController()
  const addresses = knownAddresses(services)
  const run = (subject: string, everyMs: number, step: () => Promise<ChainReport | undefined>) => {
    const tell = alarm(services, subject)
    return repeat(
      end.signal,
      { everyMs },
      reportedPass(services, `Payments: ${subject}`, async () => {
        const trouble = troubleOf(await step())
        tell(trouble)
        return { seen: 1, done: 0, failed: trouble ? 1 : 0 }
      }),
      tell,
      (now) => {
        const unsubscribe = services.changes.subscribe((topic) => topic === EVERYTHING && now())
        end.signal.addEventListener('abort', unsubscribe)
      },
    )
  }
  const loops = [
    ...services.chains.map((chain) => {
      const watch = depositWatcher(services, chain, addresses)
      const tellEndpoints = endpointAlarm(services, chain)
      return run(chain.settings.network, chain.settings.pollMs, async () => {
        const report = await watch().finally(tellEndpoints)
        if (report.behind === 0) chain.lookedAt = services.clock.now()
        return report
      })
    }),
    run('invoices', INVOICES_MS, async () => {
      await expireInvoices(services)
      return undefined
    }),
    ...services.chains.map((chain) =>
      run(`x402 on ${chain.settings.network}`, X402_MS, async () => {
        await settlePayments(services, chain)
        return undefined
      }),
    ),
    ...services.chains.map((chain) => {
      const watchGas = gasWatcher(services, chain)
      return run(`gas on ${chain.settings.network}`, GAS_MS, async () => {
        await watchGas()
        return undefined
      })
    }),
  ]
  return async () => {
    end.abort()
    await Promise.all(loops)
  }
}

function troubleOf(report: ChainReport | undefined): Error | undefined {
  if (report && report.behind > FEW_BLOCKS) return new Error('the chain shows fewer blocks than it did')
  return report?.stalled ? new Error('the chain does not finalize: nothing is credited') : undefined
}

/** Logs when an endpoint of a chain is no longer relied on, and when it is again. */
function endpointAlarm({ log }: Services, { port, settings: { network } }: Chain): () => void {
  const told = new Set<string>()
  return () => {
    for (const { name: endpoint, trouble } of port.endpoints()) {
      if (trouble !== undefined && !told.has(endpoint)) {
        told.add(endpoint)
        log.error({ network, endpoint, trouble }, 'An endpoint of a chain is not relied on')
      } else if (trouble === undefined && told.delete(endpoint)) {
        log.info({ network, endpoint }, 'An endpoint of a chain is well again')
      }
    }
  }
}

/** Logs trouble when it begins and when it ends, not at every look. */
function alarm({ log }: Services, subject: string): (trouble: Error | undefined) => void {
  let last: string | undefined
  return (trouble) => {
    if (trouble?.message === last) return
    last = trouble?.message
    if (trouble) log.error({ err: trouble, subject }, 'Payments are in trouble')
    else log.info({ subject }, 'Payments are well again')
  }
}
