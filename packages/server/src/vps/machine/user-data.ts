import { isGzip, userDataBytes } from '@coinrack/compute/ports/user-data.ts'
import { loadAll, YAML11_SCHEMA, YAMLException } from 'js-yaml'
import type { ErrorOptions } from '../../platform/errors.ts'

type Refuse = (code: 'invalid_user_data', message: string, options?: ErrorOptions) => never

const CLOUD_CONFIG = /^#cloud-config[ \t]*(\r?\n|$)/
/** All else that cloud-init knows: https://docs.cloud-init.io/en/latest/explanation/format/index.html */
const KINDS = [
  /^#![ \t]*\//,
  /^## template:[ \t]*jinja[ \t]*\r?\n/i,
  /^#(?:include|include-once|cloud-boothook|part-handler|cloud-config-archive|cloud-config-jsonp)[ \t]*\r?\n/,
  // A message whose headers say what it is; they end at the first empty line.
  /^(?:From .*\r?\n)?(?:[\w-]+:.*\r?\n(?:[ \t].*\r?\n)*)*content-type:/i,
]
const UNKNOWN =
  'user_data is neither #cloud-config, nor a script with #!, nor a MIME message, nor another form that cloud-init knows'

/** Why cloud-init would silently pass over user data; undefined when it would not. */
export function whatIsWrong(userData: string): string | undefined {
  const bytes = userDataBytes(userData)
  if (isGzip(bytes)) return undefined
  const text = bytes.toString()
  if (CLOUD_CONFIG.test(text)) return whatIsWrongInYaml(text)
  return KINDS.some((kind) => kind.test(text)) ? undefined : UNKNOWN
}

/** By YAML 1.1, which cloud-init reads; a key that stands there twice is nothing that it minds. */
function whatIsWrongInYaml(text: string): string | undefined {
  try {
    const [settings, ...others] = loadAll(text, { schema: YAML11_SCHEMA, json: true })
    if (others.length > 0) return 'user_data is more than one YAML document'
    const isMapping = typeof settings === 'object' && !Array.isArray(settings)
    return settings === undefined || isMapping ? undefined : 'user_data is no mapping of settings to values'
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    const place = error.mark ? ` in line ${error.mark.line + 1}, column ${error.mark.column + 1}` : ''
    return `user_data is not YAML: ${error.reason}${place}`
  }
}

/** Refuses what cloud-init would pass over. */
export function checkUserData(text: string | undefined, fail: Refuse): string | undefined {
  const message = text === undefined ? undefined : whatIsWrong(text)
  if (message === undefined) return text
  return fail('invalid_user_data', message, { fields: { details: [{ path: 'user_data', message }] } })
}

/** The purpose that user data of a service is sealed for. */
export const userDataPurpose = (serviceId: string) => `user-data:${serviceId}`
