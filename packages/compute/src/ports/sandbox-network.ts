import { isNetwork } from './network-policy.ts'
import { SandboxError } from './sandbox-runtime.ts'

/**
 * The targets that a sandbox may reach. The list is complete every time: nothing is added to the previous one. Targets
 * that the operator forbids every machine (this host, other machines, private networks, mail) stay forbidden in any
 * case. A sandbox is reached over its channel alone.
 */
export interface SandboxNetwork {
  /** Where neither list fits: everything is reached, or nothing. */
  allowInternet: boolean
  /** Reached in any case: networks (`198.51.100.0/24`, one address) and names (`example.com`, `*.example.com`). */
  allowOut: string[]
  /** Not reached, unless the other list has it too. */
  denyOut: string[]
}

export const openNetwork: SandboxNetwork = { allowInternet: true, allowOut: [], denyOut: [] }
export const closedNetwork: SandboxNetwork = { allowInternet: false, allowOut: [], denyOut: [] }

/** The most entries of each list. */
export const NETWORK_ENTRIES = 100

const NAME = /^(\*\.)?(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/

/** Whether the text is a name of the domain name system, in lower case, or all names below one (`*.example.com`). */
export const isDomain = (text: string) => NAME.test(text)

/** Throws SandboxError `spec_invalid` for lists that are too long, or whose text could mean something else in a rule. */
export function checkNetwork({ allowOut, denyOut }: SandboxNetwork): void {
  for (const list of [allowOut, denyOut])
    if (list.length > NETWORK_ENTRIES)
      throw new SandboxError('spec_invalid', `A list of more than ${NETWORK_ENTRIES} networks and names`)
  const broken = [...allowOut, ...denyOut].filter((text) => !isNetwork(text) && !isDomain(text))
  if (broken.length > 0)
    throw new SandboxError('spec_invalid', `Neither networks nor names: ${broken.join(', ')}`)
}
