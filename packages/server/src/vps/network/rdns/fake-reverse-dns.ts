import type { ReverseDns } from '../../../platform/reverse-dns.ts'

/** Reverse names that are published nowhere, for tests of the layers above the port. */
export interface FakeReverseDns extends ReverseDns {
  /** The names that were published. */
  names: Map<string, string>
  /** Where names lead: `name address`. */
  forward: Set<string>
  /** While true, nothing is taken. */
  refuses: boolean
}

export function createFakeReverseDns(): FakeReverseDns {
  const fake: FakeReverseDns = {
    names: new Map(),
    forward: new Set(),
    refuses: false,
    async publish(address, hostname) {
      if (fake.refuses) throw new Error('scripted: refused')
      if (hostname === null) fake.names.delete(address)
      else fake.names.set(address, hostname)
    },
    leadsTo: async (hostname, address) => fake.forward.has(`${hostname} ${address}`),
  }
  return fake
}
