import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Chain } from './chain/chain-port.ts'
import type { Dispatch } from './dispatch.ts'

/** What the operator's monitoring reads, in the Prometheus text format. */
export interface Metrics {
  /** Counts an answer of an operation. */
  answered(operation: string, status: number, seconds: number): void
  text(): Promise<string>
  contentType: string
}

/** @param chains whose endpoints are told of */
export function createMetrics(chains: Chain[] = []): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const answers = new Histogram({
    name: 'coinrack_operation_duration_seconds',
    help: 'How long operations took, by name and HTTP status',
    labelNames: ['operation', 'status'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers: [registry],
  })
  new Gauge({
    name: 'coinrack_chain_endpoint_relied_on',
    help: '1 for an RPC endpoint that is well, 0 for one that fails, lags or contradicts the others',
    labelNames: ['network', 'endpoint'],
    registers: [registry],
    collect() {
      for (const { port } of chains)
        for (const { name, trouble } of port.endpoints())
          this.labels(port.network, name).set(trouble === undefined ? 1 : 0)
    },
  })
  return {
    answered: (operation, status, seconds) => answers.labels(operation, String(status)).observe(seconds),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

/** The same dispatch, with each answer counted. */
export const measured =
  (dispatch: Dispatch, metrics: Metrics): Dispatch =>
  async (name, request) => {
    const start = performance.now()
    const answer = await dispatch(name, request)
    metrics.answered(name, answer.status, (performance.now() - start) / 1000)
    return answer
  }
