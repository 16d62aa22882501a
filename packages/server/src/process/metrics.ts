import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import type { Dispatch } from '../dispatch/dispatch.ts'

/** The metrics that the operator's monitoring reads, in the Prometheus text format. */
export interface Metrics {
  /** Counts an answer of an operation. */
  answered(operation: string, status: number, seconds: number): void
  text(): Promise<string>
  contentType: string
}

/** @param others what else is measured, by those who know it */
export function createMetrics(others: ((registry: Registry) => void)[] = []): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const answers = new Histogram({
    name: 'coinrack_operation_duration_seconds',
    help: 'How long operations took, by name and HTTP status',
    labelNames: ['operation', 'status'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers: [registry],
  })
  for (const add of others) add(registry)
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
