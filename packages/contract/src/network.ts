import { z } from 'zod'
import { Id } from './ids.ts'
import { listOperation, operation } from './operation.ts'
import { Hostname } from './vps.ts'

const PORT = /^\d{1,5}(-\d{1,5})?$/
const OCTET = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const NETWORK = new RegExp(
  `^(${OCTET}(\\.${OCTET}){3}(/(3[0-2]|[12]?\\d))?|[\\da-fA-F:]*:[\\da-fA-F:]*(/(12[0-8]|1[01]\\d|[1-9]?\\d))?)$`,
)
/** Checks what the pattern leaves open of IPv6: how many groups there are. */
const isAddress = (text: string) => !text.includes(':') || URL.canParse(`http://[${text.split('/')[0]}]`)

/** Whether the text is an address or a network of IPv4 or IPv6. */
export const isCidr = (text: string) => NETWORK.test(text) && isAddress(text)

const isPortSpan = (text: string) => {
  const [from, to = from] = text.split('-').map(Number)
  return from! >= 1 && to! <= 65_535 && from! <= to!
}

const Action = z.enum(['allow', 'deny'])

export const FirewallRule = z
  .strictObject({
    action: Action,
    direction: z.enum(['in', 'out']),
    protocol: z.enum(['tcp', 'udp', 'icmp', 'any']).default('any'),
    ports: z
      .array(
        z
          .string()
          .regex(PORT, 'Expected a port such as "443", or two such as "8000-8100"')
          .refine(isPortSpan, 'Expected ports from 1 to 65535, the lower one first'),
      )
      .min(1)
      .max(20)
      .optional()
      .describe(
        'Port of the VPS for in, of the other side for out; only for tcp and udp. Left out: all ports',
      ),
    cidr: z
      .string()
      .regex(NETWORK, 'Expected an address or network such as 203.0.113.0/24 or 2001:db8::/32')
      .refine(isAddress, 'Expected an address or network such as 203.0.113.0/24 or 2001:db8::/32')
      .optional()
      .describe('The other side. Without: everybody'),
  })
  .refine(({ protocol, ports }) => ports === undefined || protocol === 'tcp' || protocol === 'udp', {
    message: 'Ports need the protocol tcp or udp',
    path: ['ports'],
  })

const Firewall = z.object({
  default_in: Action,
  default_out: Action,
  rules: z.array(FirewallRule),
  applied: z.boolean().describe('The machine has these rules now; false for a moment after a change'),
})

const Protocol = z.enum(['tcp', 'udp'])
const Port = z.number().int().min(1).max(65_535)

const PublicPort = z.object({
  protocol: Protocol,
  port: z.number().int().describe('Port of the VPS'),
  public_port: z.number().int(),
  host: z.string().describe('The public address'),
})

const service = { service_id: Id('service') }
const serviceExample = { service_id: 'vps_01kabcdefghjkmnpqrstvwxyz0' }

/** The operations on what reaches a VPS and what it reaches. */
export const network = {
  getFirewall: operation({
    method: 'GET',
    path: '/services/{id}/firewall',
    summary: 'Show the firewall of a VPS',
    description:
      'Shows the firewall rules of a VPS. The first rule that fits a new connection decides, in the given order; where none fits, the default of its direction does. A new VPS allows everything. What the operator blocks for all customers (private networks, outgoing mail) is blocked whatever the rules say.',
    access: 'read',
    rate: 'default',
    resource: 'service',
    effect: 'read',
    idempotent: true,
    input: z.strictObject(service),
    output: Firewall,
    errors: [],
    example: serviceExample,
  }),
  setFirewall: operation({
    method: 'PUT',
    path: '/services/{id}/firewall',
    summary: 'Set the firewall of a VPS',
    description:
      'Replaces all firewall rules of a VPS in one step, while it runs; open connections go on. The rules hold over reboots. With default_in deny, allow tcp port 22 or you cannot log in. Answers to allowed connections always pass. Call get_firewall until applied is true.',
    access: 'manage',
    rate: 'default',
    resource: 'service',
    effect: 'write',
    idempotent: true,
    input: z.strictObject({
      ...service,
      default_in: Action.default('allow'),
      default_out: Action.default('allow'),
      rules: z.array(FirewallRule).max(100),
    }),
    output: Firewall,
    errors: ['service_busy', 'unsupported'],
    example: {
      ...serviceExample,
      default_in: 'deny',
      rules: [{ action: 'allow', direction: 'in', protocol: 'tcp', ports: ['22', '80', '443'] }],
    },
    next: (_answer, { service_id }) => [
      { tool: 'get_firewall', why: 'See when the rules are applied', arguments: { service_id } },
    ],
  }),
  listPorts: listOperation({
    method: 'GET',
    path: '/services/{id}/ports',
    summary: 'List the open ports of a VPS',
    description:
      'Lists the ports of the shared public address that lead to a VPS, beside SSH. A VPS with an address of its own has none in the list: all its ports are open.',
    access: 'read',
    rate: 'default',
    resource: 'service',
    effect: 'read',
    idempotent: true,
    input: z.strictObject(service),
    output: PublicPort,
    errors: [],
    example: serviceExample,
  }),
  openPort: operation({
    method: 'POST',
    path: '/services/{id}/ports',
    summary: 'Open a public port of a VPS',
    description:
      'Opens a port of the public address that leads to a port of a VPS, within a second or two. A port that is open already keeps its public port. A VPS with an address of its own has every port open: the answer is the same port. The firewall of the VPS still decides who may connect.',
    access: 'manage',
    rate: 'default',
    resource: 'service',
    effect: 'write',
    idempotent: true,
    input: z.strictObject({ ...service, port: Port, protocol: Protocol.default('tcp') }),
    output: PublicPort,
    errors: ['service_busy', 'unsupported', 'too_many_ports', 'capacity'],
    example: { ...serviceExample, port: 443, protocol: 'tcp' },
    next: (_answer, { service_id }) => [
      { tool: 'list_ports', why: 'See all open ports', arguments: { service_id } },
    ],
  }),
  closePort: operation({
    method: 'DELETE',
    path: '/services/{id}/ports/{public_port}',
    summary: 'Close a public port of a VPS',
    description:
      'Closes a public port that leads to a VPS. Open connections go on and new ones are refused. The port of SSH cannot be closed.',
    access: 'manage',
    rate: 'default',
    resource: 'service',
    effect: 'write',
    idempotent: true,
    input: z.strictObject({ ...service, public_port: z.coerce.number().pipe(Port) }),
    output: z.object({ closed: z.boolean().describe('False: it was not open') }),
    errors: ['service_busy'],
    example: { ...serviceExample, public_port: 22_080 },
  }),
  setRdns: operation({
    method: 'PUT',
    path: '/services/{id}/rdns',
    summary: 'Set the reverse DNS name of a VPS',
    description:
      "Sets the reverse DNS name of a VPS's own addresses: ip where the plan is dedicated, and ipv6. Point the name to them first (A, AAAA): it is published once it leads there. A hostname of null removes it. Repeat the call to have the name checked again and to see how far it is.",
    access: 'manage',
    rate: 'default',
    resource: 'service',
    delegable: true,
    effect: 'write',
    idempotent: true,
    input: z.strictObject({
      ...service,
      hostname: Hostname.regex(
        /\.[a-zA-Z][a-zA-Z0-9-]*$/,
        'Expected a whole name such as vps.example.net',
      ).nullable(),
    }),
    output: z.object({
      records: z.array(
        z.object({
          address: z.string(),
          hostname: z.string().nullable(),
          published: z.boolean(),
          reason: z.string().nullable().describe('Why not yet'),
        }),
      ),
    }),
    errors: ['no_own_address', 'service_busy', 'rdns_unavailable'],
    example: { ...serviceExample, hostname: 'vps.example.net' },
  }),
}
