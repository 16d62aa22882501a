import type { TestService } from '@coinrack/server/process/testing.ts'

/** Reconciles again and again, as the background of a service does. @returns what ends it */
export function keepReconciling(service: TestService, pauseMs = 20): () => Promise<void> {
  let isOver = false
  const background = (async () => {
    while (!isOver) {
      await service.reconcile()
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  })()
  return async () => {
    isOver = true
    await background
  }
}
