import { OperationError } from '../platform/errors.ts'
import { type HostNetwork, LOCAL_HOST, type MachineHost } from '../platform/machine-host.ts'
import type { PassReport } from '../platform/pass-report.ts'
import type { Services } from '../platform/services.ts'
import { currentReplicas } from '../replicas/replica-store.ts'
import { saveTrouble } from './host-store.ts'

const RETRY_S = 5

/**
 * The host `local` as a replica on another computer knows it: the addresses and ports that it gives, so that orders can be
 * placed there. Whoever asks for a machine itself is refused; see `transport/proxy-to-leader.ts` for what is passed on.
 */
export function hostElsewhere(region: string, network: HostNetwork): MachineHost {
  return {
    id: LOCAL_HOST,
    kind: 'qemu',
    region,
    isRemote: false,
    network,
    driver: refusing('driver'),
    guests: refusing('guest channel'),
    console: refusing('console'),
    snapshots: refusing('snapshots'),
    retainedDisks: refusing('retained disks'),
  }
}

const refusing = <T extends object>(port: string): T =>
  new Proxy({} as T, {
    get: () => async () => {
      throw new OperationError(
        'unavailable',
        `The machines are on another computer, and this replica has no ${port} to them`,
        { retryAfter: RETRY_S },
      )
    },
  })

/** Writes down that nothing can be placed on the host while no replica tends it. It says itself when it is back. */
export async function noteWhetherTended({ db }: Services, host: MachineHost): Promise<PassReport> {
  const isTended = (await currentReplicas(db)).some(({ tendsLocal }) => tendsLocal)
  if (!isTended) await saveTrouble(db, host, 'no replica tends its machines at the moment')
  return { seen: 1, done: 0, failed: 0 }
}
