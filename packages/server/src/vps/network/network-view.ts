import type { FirewallRule, OpenPort } from '@coinrack/compute/ports/network-policy.ts'
import type { NetworkRow } from './network-store.ts'

/** The firewall as its owner sees it. */
export const firewallView = ({ firewall, wanted_network, done_network }: NetworkRow) => ({
  default_in: firewall.defaultIn,
  default_out: firewall.defaultOut,
  rules: firewall.rules as FirewallRule[],
  applied: done_network >= wanted_network,
})

export const portView = ({ protocol, port, publicPort }: OpenPort, host: string) => ({
  protocol,
  port,
  public_port: publicPort,
  host,
})

/** Whether a machine's network can be changed: in any state but the last ones. */
export const hasNetwork = (status: string) => status !== 'failed' && status !== 'deleted'
