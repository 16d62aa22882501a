import type { ErrorOptions } from '../errors.ts'

type Refuse = (code: 'invalid_user_data', message: string, options?: ErrorOptions) => never

const KINDS = [
  /^#cloud-config[ \t]*(\r?\n|$)/,
  /^#![ \t]*\//,
  // A message whose headers say what it is; they end at the first empty line.
  /^(?:[\w-]+:.*\r?\n(?:[ \t].*\r?\n)*)*content-type:/i,
]

/** Whether cloud-init would know what to do with it. It ignores what it does not know, and nobody would notice. */
export const isUserData = (text: string) => KINDS.some((kind) => kind.test(text))

/** Refuses what cloud-init would pass over. */
export function checkUserData(text: string | undefined, fail: Refuse): string | undefined {
  if (text === undefined || isUserData(text)) return text
  const message = 'user_data is neither #cloud-config, nor a script with #!, nor a MIME message'
  return fail('invalid_user_data', message, { fields: { details: [{ path: 'user_data', message }] } })
}

/** What user data of a service is sealed for. */
export const userDataPurpose = (serviceId: string) => `user-data:${serviceId}`
