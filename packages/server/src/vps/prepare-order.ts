import type { Ordering } from '../seams.ts'
import { askHost } from './ask-host.ts'
import { newRootPassword } from './root-password.ts'

/** Asks the host, and makes the password of a machine that may begin. */
export const prepareOrder: Ordering['prepareOrder'] = async (services, { begins }) => {
  const [host, password] = await Promise.all([
    askHost(services),
    begins ? newRootPassword(services.random) : undefined,
  ])
  return { host, password }
}
