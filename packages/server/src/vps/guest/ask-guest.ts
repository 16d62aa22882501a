import { dirname } from 'node:path/posix'
import { GuestError } from '@coinrack/compute/ports/guest-channel.ts'
import type { ErrorOptions } from '../../platform/errors.ts'
import { demandFeature } from '../machine/demand-feature.ts'
import { stateRefusal } from '../machine/state-refusal.ts'
import type { VpsRow } from '../machine/vps-store.ts'

type Refuse<C extends string> = (code: C, message: string, options?: ErrorOptions) => never

type Asked = Pick<VpsRow, 'id' | 'status' | 'ssh_ready' | 'features' | 'rescue'>
type Fault = 'service_busy' | 'unsupported' | 'guest_unreachable'

/** Does something inside a machine, or says why it can't be done. */
export async function askGuest<T>(vps: Asked, fail: Refuse<Fault>, work: () => Promise<T>): Promise<T> {
  demandFeature(vps, 'guest_commands', fail)
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
  fail: Refuse<Fault | 'file_refused' | 'file_not_found'>,
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

/** Before SSH answers it is booting still; afterwards its console shows what the matter is, or a login by SSH. */
function reachGuest({ id, ssh_ready, features }: Asked) {
  const service = { service_id: id }
  const why = 'See whether qemu-guest-agent runs'
  if (!ssh_ready) {
    const wait = { ...service, wait: 'ssh_ready', timeout: 50 }
    return [{ tool: 'get_vps_status', why: 'Wait until it has booted', arguments: wait }]
  }
  if (features.includes('serial_console')) return [{ tool: 'open_console', why, arguments: service }]
  return features.includes('screen')
    ? [{ tool: 'open_console', why, arguments: { ...service, type: 'vnc' } }]
    : [{ tool: 'get_vps_status', why: `Log in by SSH. ${why}`, arguments: { ...service, reveal: false } }]
}

const lookAround = (id: string, path: string) => ({
  tool: 'run_on_vps',
  why: 'See what is in the folder',
  arguments: { service_id: id, command: `ls -la -- '${dirname(path).replaceAll("'", `'\\''`)}'` },
})
