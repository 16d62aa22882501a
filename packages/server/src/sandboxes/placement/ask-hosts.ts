import { SandboxError } from '@coinrack/compute/ports/sandbox-runtime.ts'
import type { SandboxHostFacts } from '../../platform/host-facts.ts'
import { LOCAL_HOST } from '../../platform/machine-host.ts'
import { demandSandboxes, hostAway, type SandboxHost, sandboxHostOf } from '../../platform/sandbox-host.ts'
import type { Services } from '../../platform/services.ts'

type Known = Pick<Services, 'sandboxes' | 'config' | 'log'>

/** A host that answers later than this is left out, as soon as another one has answered. */
const PATIENCE_MS = 2_000
/** The facts about a remote host are asked for again when they are older than this. */
const HOLDS_MS = 2_000

const kept = new WeakMap<SandboxHost, { at: number; facts: Promise<SandboxHostFacts> }>()

/**
 * Asks the hosts, before a transaction, all that a new sandbox needs of them. A host that fails is left out, unless all do.
 * @throws OperationError `sandboxes_unavailable`
 */
export async function askHosts(services: Known): Promise<SandboxHostFacts[]> {
  demandSandboxes(services)
  const found: SandboxHostFacts[] = []
  let failure: unknown
  const answers = [...services.sandboxes].map(([id, host]) =>
    ask(id, host).then(
      (facts) => void found.push(facts),
      (error) => {
        failure = error
        services.log.warn({ err: error, host: id }, 'A host of sandboxes did not answer')
      },
    ),
  )
  await Promise.race([Promise.all(answers), after(PATIENCE_MS)])
  if (found.length === 0)
    await Promise.race([Promise.all(answers), untilFirst(answers, () => found.length > 0)])
  if (found.length === 0) throw failure instanceof SandboxError ? hostAway() : failure
  return found.slice().sort((one, other) => (one.id < other.id ? -1 : 1))
}

/** Asks one host the same. @throws OperationError `sandboxes_unavailable` */
export const askHost = (services: Known, hostId: string): Promise<SandboxHostFacts> =>
  ask(hostId, sandboxHostOf(services, { host_id: hostId })).catch((error) => {
    throw error instanceof SandboxError ? hostAway() : error
  })

function ask(id: string, host: SandboxHost): Promise<SandboxHostFacts> {
  if (id === LOCAL_HOST) return look(id, host)
  const known = kept.get(host)
  if (known && performance.now() - known.at < HOLDS_MS) return known.facts
  const facts = look(id, host)
  kept.set(host, { at: performance.now(), facts })
  facts.catch(() => kept.delete(host))
  return facts
}

async function look(id: string, { runtime }: SandboxHost): Promise<SandboxHostFacts> {
  const [capacity, templates, hasNetworks] = await Promise.all([
    runtime.capacity(),
    runtime.templates(),
    runtime.hasNetworks(),
  ])
  return { id, capacity, templates, hasNetworks }
}

const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms).unref())

/** Resolves with the first of these after which it is so. */
const untilFirst = (answers: readonly Promise<void>[], isSo: () => boolean) =>
  new Promise<void>((resolve) => {
    for (const answer of answers) void answer.then(() => isSo() && resolve())
  })
