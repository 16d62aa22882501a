import { GuestError } from '@coinrack/compute/guest-channel.ts'
import type { VpsStatus } from './vps-store.ts'

type Refuse<C extends string> = (code: C, message: string) => never

/** Does something inside a machine, or says why it can't be done. */
export async function askGuest<T>(
  status: VpsStatus,
  fail: Refuse<'service_busy' | 'guest_unreachable'>,
  work: () => Promise<T>,
): Promise<T> {
  if (status !== 'active') fail('service_busy', `The VPS is ${status}`)
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof GuestError) || error.code === 'file_refused') throw error
    return fail('guest_unreachable', error.message)
  }
}

/** The same for a file, which may be refused inside. */
export async function askForFile<T>(
  status: VpsStatus,
  fail: Refuse<'service_busy' | 'guest_unreachable' | 'file_refused'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await askGuest(status, fail, work)
  } catch (error) {
    if (!(error instanceof GuestError)) throw error
    return fail('file_refused', `The file is refused: ${error.message}`)
  }
}
