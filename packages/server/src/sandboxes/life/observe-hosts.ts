import type { SandboxObservation } from '@coinrack/compute/ports/sandbox-runtime.ts'
import type { SandboxHost } from '../../platform/sandbox-host.ts'
import type { Services } from '../../platform/services.ts'

/** The sandboxes that each host has, by its id and theirs. A host that did not answer is not in it. */
export type Observed = ReadonlyMap<string, ReadonlyMap<string, SandboxObservation>>

/** A host that takes longer does without this look. */
const ANSWER_MS = 2_000

interface Look {
  begun: number
  /** Whether it was said that the host is late. */
  isTold: boolean
  answer: Promise<ReadonlyMap<string, SandboxObservation>>
}

/** Those who look while a host is being looked at are given the same, and wait no longer than the first. */
const looks = new WeakMap<SandboxHost, Look>()

/** Looks at all hosts at once. One that is slow, or fails, keeps nobody from the others. */
export async function observeHosts({
  sandboxes,
  log,
}: Pick<Services, 'sandboxes' | 'log'>): Promise<Observed> {
  const observed = new Map<string, ReadonlyMap<string, SandboxObservation>>()
  const hosts = [...sandboxes]
  await Promise.all(
    hosts.map(async ([id, host]) => {
      const asked = look(host)
      try {
        observed.set(id, await withinLimit(asked))
      } catch (error) {
        if (!asked.isTold) log.error({ err: error, host: id }, 'A host did not say which sandboxes it has')
        asked.isTold = true
      }
    }),
  )
  return observed
}

function look(host: SandboxHost): Look {
  const known = looks.get(host)
  if (known) return known
  const answer = host.runtime.observe().finally(() => looks.delete(host))
  const look = { begun: performance.now(), isTold: false, answer }
  looks.set(host, look)
  return look
}

async function withinLimit({ begun, answer }: Look): Promise<ReadonlyMap<string, SandboxObservation>> {
  const late = Promise.withResolvers<never>()
  const left = Math.max(0, begun + ANSWER_MS - performance.now())
  const timer = setTimeout(() => late.reject(new Error('It did not answer in time')), left)
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
