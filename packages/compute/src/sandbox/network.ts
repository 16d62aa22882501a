import type { NameRules } from '../network/name-rules.ts'
import { type FirewallRule, isNetwork, type NetworkPolicy } from '../ports/network-policy.ts'
import { checkNetwork, isDomain, type SandboxNetwork } from '../ports/sandbox-network.ts'

/**
 * The rules of a sandbox's machine: allowed targets come first, and the sandbox is not reachable. Rules by name exist
 * only where a name makes a difference, since they take a resolver. Throws `spec_invalid`.
 */
export function namesAndPolicyOf(network: SandboxNetwork): { policy: NetworkPolicy; names?: NameRules } {
  checkNetwork(network)
  const { allowInternet, allowOut, denyOut } = network
  const rules = (action: FirewallRule['action'], list: string[]) =>
    list.filter(isNetwork).map((cidr): FirewallRule => ({ action, direction: 'out', protocol: 'any', cidr }))
  const names = { allow: allowOut.filter(isDomain), deny: denyOut.filter(isDomain), isOpen: allowInternet }
  const isByName = allowInternet
    ? names.deny.length > 0 || (names.allow.length > 0 && denyOut.length > 0)
    : names.allow.length > 0
  return {
    policy: {
      firewall: {
        defaultIn: 'deny',
        defaultOut: allowInternet ? 'allow' : 'deny',
        rules: [...rules('allow', allowOut), ...rules('deny', denyOut)],
      },
      ports: [],
    },
    ...(isByName && { names }),
  }
}
