import { type FirewallRule, isNetwork, type NetworkPolicy } from '../network/network-policy.ts'
import { checkNetwork, type SandboxNetwork } from '../sandbox-network.ts'
import { SandboxError } from '../sandbox-runtime.ts'

/**
 * What a sandbox may reach, as rules of its machine: what is allowed by name of a network comes first. Nobody reaches a
 * sandbox. Throws `spec_invalid`, and `unsupported` for names of the domain name system.
 */
export function policyOf(network: SandboxNetwork): NetworkPolicy {
  checkNetwork(network)
  const names = [...network.allowOut, ...network.denyOut].filter((entry) => !isNetwork(entry))
  if (names.length > 0)
    throw new SandboxError('unsupported', `No rules by name are possible here: ${names.join(', ')}`)
  const rules = (action: FirewallRule['action'], networks: string[]) =>
    networks.map((cidr): FirewallRule => ({ action, direction: 'out', protocol: 'any', cidr }))
  return {
    firewall: {
      defaultIn: 'deny',
      defaultOut: network.allowInternet ? 'allow' : 'deny',
      rules: [...rules('allow', network.allowOut), ...rules('deny', network.denyOut)],
    },
    ports: [],
  }
}
