import type { Ordering } from '../../platform/seams.ts'
import { newRootPassword } from '../machine/root-password.ts'
import { askHost } from './ask-host.ts'

/** Asks the host, and makes the password of a machine that may begin. */
export const prepareOrder: Ordering['prepareOrder'] = async (services, { begins }) => {
  const [host, password] = await Promise.all([
    askHost(services),
    begins ? newRootPassword(services.random) : undefined,
  ])
  return { host, password }
}
