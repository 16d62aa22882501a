import type { RateClass } from './operation.ts'

/** Whether a class counts by account or by address, for documentation: the limits themselves are configuration. */
export const rateSubjects: Record<RateClass, 'account' | 'address'> = {
  default: 'account',
  orders: 'account',
  topups: 'account',
  purchases: 'address',
  passwordResets: 'account',
  reinstalls: 'account',
  register: 'address',
  applications: 'address',
  login: 'address',
  console: 'account',
  sandboxes: 'account',
}
