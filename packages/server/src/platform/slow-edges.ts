import { demandNoTransaction } from '../database/transaction.ts'
import type { MachineHost } from './machine-host.ts'
import type { SandboxHost, SandboxHosts } from './sandbox-host.ts'
import type { Services } from './services.ts'

type Wrap<T> = (what: string, edge: T) => T
type Edge = keyof typeof wraps

/** Every way out of the service that can take its time, with how each is wrapped. */
const wraps = {
  mailer: wrapPort,
  lookup: wrapCall,
  offer: wrapCall,
  hosts: (what, hosts) => new Map([...hosts].map(([id, host]) => [id, wrapHost(`${what}.${id}`, host)])),
  rdns: (what, rdns) => rdns && wrapPort(what, rdns),
  sandboxes: (what, sandboxes) => new GuardedSandboxHosts(what, sandboxes),
  sandboxImages: (what, images) => images && wrapPort(what, images),
  chains: (what, chains) =>
    chains.map((chain) => ({
      settings: chain.settings,
      port: wrapPort(what, chain.port),
      // A chain whose endpoints were all away at the start has these later.
      get gasWallet() {
        // A signature needs no call: it is made here, with the number that the transaction takes.
        return chain.gasWallet && wrapPort(what, chain.gasWallet, ['sign'])
      },
      get prove() {
        return chain.prove && wrapCall(`${what}.prove()`, chain.prove)
      },
    })),
} satisfies { [E in keyof Services]?: Wrap<Services[E]> }

/**
 * The same services, whose slow edges refuse to be asked for anything while a transaction is open (SlowWorkError): whichever
 * test reaches such a call fails, whatever else it is about. It holds as well for what is put in the place of an edge
 * later, by `main.ts` once the sandboxes are open or by a test.
 */
export function guardSlowEdges(services: Services): Services {
  for (const name of Object.keys(wraps) as Edge[]) guardEdge(services, name)
  return services
}

function guardEdge<E extends Edge>(services: Services, name: E): void {
  const wrap = wraps[name] as Wrap<Services[E]>
  let guarded = wrap(name, services[name])
  Object.defineProperty(services, name, {
    enumerable: true,
    get: () => guarded,
    set: (edge: Services[E]) => {
      guarded = wrap(name, edge)
    },
  })
}

/** Hosts of sandboxes that join later are wrapped as well. */
class GuardedSandboxHosts extends Map<string, SandboxHost> {
  readonly #what: string

  constructor(what: string, hosts: SandboxHosts) {
    super()
    this.#what = what
    for (const [id, host] of hosts) this.set(id, host)
  }

  override set(id: string, host: SandboxHost): this {
    const what = `${this.#what}.${id}`
    return super.set(id, {
      ...host,
      runtime: wrapPort(what, host.runtime),
      artifacts: wrapPort(what, host.artifacts),
      channel: wrapPort(what, host.channel),
    })
  }
}

function wrapCall<A extends unknown[], R>(what: string, call: (...args: A) => R): (...args: A) => R {
  return (...args) => {
    demandNoTransaction(what)
    return call(...args)
  }
}

function wrapHost(what: string, host: MachineHost): MachineHost {
  const { driver, guests, console, snapshots, retainedDisks } = host
  const ports = { driver, guests, console, snapshots, retainedDisks }
  const wrapped = Object.entries(ports).map(([name, port]) => [
    name,
    wrapPort<object>(`${what}.${name}`, port),
  ])
  return { ...host, ...Object.fromEntries(wrapped) }
}

/** @param quick calls of it that are fine inside a transaction */
function wrapPort<T extends object>(what: string, port: T, quick: (string | symbol)[] = []): T {
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (quick.includes(name)) return value.bind(target)
      return wrapCall(`${what}.${String(name)}()`, value.bind(target) as () => unknown)
    },
  })
}
