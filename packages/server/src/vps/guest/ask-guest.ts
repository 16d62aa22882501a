import { dirname } from 'node:path/posix'
import { GuestError } from '@coinrack/compute/ports/guest-channel.ts'
import type { ErrorOptions } from '../../platform/errors.ts'
import type { VpsStatus } from '../machine/machine-store.ts'
import { stateRefusal } from '../machine/state-refusal.ts'

type Refuse<C extends string> = (code: C, message: string, options?: ErrorOptions) => never

interface Asked {
  id: string
  status: VpsStatus
  ssh_ready: boolean
}

/** Does something inside a machine, or says why it can't be done. */
export async function askGuest<T>(
  vps: Asked,
  fail: Refuse<'service_busy' | 'guest_unreachable'>,
  work: () => Promise<T>,
): Promise<T> {
  if (vps.status !== 'active') fail('service_busy', ...stateRefusal(vps))
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof GuestError) || ['file_refused', 'file_unknown'].includes(error.code)) throw error
    return fail('guest_unreachable', error.message, { nextSteps: reachGuest(vps) })
  }
}

/** The same for a file, which may be refused inside. */
export async function askForFile<T>(
  vps: Asked,
  path: string,
  fail: Refuse<'service_busy' | 'guest_unreachable' | 'file_refused' | 'file_not_found'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await askGuest(vps, fail, work)
  } catch (error) {
    if (!(error instanceof GuestError)) throw error
    if (error.code === 'file_unknown') {
      return fail('file_not_found', `There is no file ${path}`, {
        fix: 'Check the path: run_on_vps shows what is there.',
        nextSteps: [lookAround(vps.id, path)],
      })
    }
    return fail('file_refused', `The file is refused: ${error.message}`)
  }
}

/** Before SSH answers it is booting still; afterwards its console shows what the matter is. */
const reachGuest = ({ id, ssh_ready }: Asked) => [
  ssh_ready
    ? { tool: 'open_console', why: 'See whether qemu-guest-agent runs', arguments: { service_id: id } }
    : {
        tool: 'get_vps_status',
        why: 'Wait until it has booted',
        arguments: { service_id: id, wait: 'ssh_ready', timeout: 50 },
      },
]

const lookAround = (id: string, path: string) => ({
  tool: 'run_on_vps',
  why: 'See what is in the folder',
  arguments: { service_id: id, command: `ls -la -- '${dirname(path).replaceAll("'", `'\\''`)}'` },
})
