import type { VpsObservation } from '@coinrack/compute/ports/vps-driver.ts'
import { hostOf } from '../../platform/machine-host.ts'
import type { Services } from '../../platform/services.ts'

/** After that a host is asked about a machine anew. */
export const FRESH_MS = 5_000

type Machine = { id: string; host_id: string }

/**
 * Observes machines that nothing is to be done with, all of a host by one question. A machine that a host leaves out of its answer is
 * asked for by itself before it counts as gone.
 */
export function observeTogether(services: Services): (machine: Machine) => Promise<VpsObservation> {
  const answers = new Map<string, { at: number; machines: Promise<Map<string, VpsObservation>> }>()
  const ofHost = (machine: Machine) => {
    const { host_id: id } = machine
    const known = answers.get(id)
    if (known) return known
    const asked = {
      at: services.clock.now().getTime(),
      machines: hostOf(services, machine).driver.observeAll(),
    }
    answers.set(id, asked)
    return asked
  }
  return async (machine) => {
    const { at, machines } = ofHost(machine)
    const seen = (await machines).get(machine.id)
    if (seen && services.clock.now().getTime() - at < FRESH_MS) return seen
    return observeOne(services, machine)
  }
}

export const observeOne = (services: Services, machine: Machine): Promise<VpsObservation> =>
  hostOf(services, machine).driver.observe(machine.id)
