import { isIP } from 'node:net'
import { DriverError } from './vps-driver.ts'

/** The network that a machine's owner wants. It is complete every time: nothing is added to the previous one. */
export interface NetworkPolicy {
  firewall: FirewallPolicy
  /** Ports of the public address beside SSH. */
  ports: OpenPort[]
}

/** The first rule that fits a new connection decides; where none does, the default of its direction. */
export interface FirewallPolicy {
  defaultIn: FirewallAction
  defaultOut: FirewallAction
  rules: FirewallRule[]
}

export type FirewallAction = 'allow' | 'deny'

export interface FirewallRule {
  action: FirewallAction
  direction: 'in' | 'out'
  protocol: 'tcp' | 'udp' | 'icmp' | 'any'
  /**
   * Ports of the machine for `in`, of the other side for `out`: `"443"` or `"8000-8100"`; for tcp and udp. Left out:
   * all.
   */
  ports?: string[]
  /** The other side, `203.0.113.0/24`, `2001:db8::/32` or one address. Left out: everybody. */
  cidr?: string
}

export interface OpenPort {
  protocol: 'tcp' | 'udp'
  /** The port of the machine. */
  port: number
  /** The port of the address at which the machine's SSH is served. */
  publicPort: number
}

export interface PortSpan {
  from: number
  /** Inclusive. */
  to: number
}

/** Nothing is filtered but what the operator filters for everybody. */
export const openPolicy: NetworkPolicy = {
  firewall: { defaultIn: 'allow', defaultOut: 'allow', rules: [] },
  ports: [],
}

const HIGHEST_PORT = 65_535
const isPort = (port: number) => Number.isInteger(port) && port >= 1 && port <= HIGHEST_PORT

/** Reads `"443"` or `"8000-8100"`; undefined for anything else. */
export function parsePorts(text: string): PortSpan | undefined {
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text)
  if (!match) return undefined
  const from = Number(match[1])
  const to = Number(match[2] ?? match[1])
  return isPort(from) && isPort(to) && from <= to ? { from, to } : undefined
}

/** Whether the text is an address or network of IPv4 or IPv6. */
export function isNetwork(text: string): boolean {
  const [address = '', length, ...rest] = text.split('/')
  const version = isIP(address)
  // An address with a zone or with dots in it is nothing that a rule takes.
  if (version === 0 || rest.length > 0 || !/^[\d.]+$|^[\da-fA-F:]+$/.test(address)) return false
  return length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= (version === 4 ? 32 : 128))
}

/** Whether a network that `isNetwork` takes is one of IPv6. */
export const isIpv6Network = (network: string) => network.includes(':')

/** Throws DriverError `spec_invalid` for a policy whose text could mean something else in a rule. */
export function checkPolicy({ firewall, ports }: NetworkPolicy): void {
  const actions = ['allow', 'deny']
  const broken = [
    ...[firewall.defaultIn, firewall.defaultOut].filter((action) => !actions.includes(action)),
    ...firewall.rules.filter((rule) => !isRule(rule)).map((rule) => JSON.stringify(rule)),
    ...ports
      .filter(
        ({ protocol, port, publicPort }) =>
          !['tcp', 'udp'].includes(protocol) || !isPort(port) || !isPort(publicPort),
      )
      .map((port) => JSON.stringify(port)),
  ]
  if (broken.length > 0)
    throw new DriverError('spec_invalid', `Not a network policy that can be applied: ${broken.join(', ')}`)
}

function isRule({ action, direction, protocol, ports, cidr }: FirewallRule): boolean {
  return (
    ['allow', 'deny'].includes(action) &&
    ['in', 'out'].includes(direction) &&
    ['tcp', 'udp', 'icmp', 'any'].includes(protocol) &&
    (ports === undefined ||
      (['tcp', 'udp'].includes(protocol) && ports.every((text) => parsePorts(text) !== undefined))) &&
    (cidr === undefined || isNetwork(cidr))
  )
}
