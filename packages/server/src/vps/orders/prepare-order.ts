import type { Ordering } from '../../platform/slice-ports.ts'
import { newRootPassword } from '../machine/root-password.ts'

/** Makes the password of a machine that may begin. */
export const prepareOrder: Ordering['prepareOrder'] = async ({ random }, { begins }) => ({
  password: begins ? await newRootPassword(random) : undefined,
})
