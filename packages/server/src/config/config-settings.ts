import { DEFAULT_PARENT } from '@coinrack/compute/machine/control-groups/control-groups.ts'
import { defaultDiskLimits } from '@coinrack/compute/machine/control-groups/limits.ts'
import { defaultUserIds } from '@coinrack/compute/machine/machine-users.ts'
import { defaultEgress } from '@coinrack/compute/network/machine-ruleset.ts'
import type { z } from 'zod'
import { discoverySettings } from './config-discovery.ts'
import { replicaSettings } from './config-replicas.ts'
import * as values from './config-values.ts'

/** One thing that an operator can set. Reading, checking and the documentation all come from this. */
export interface Setting<T = unknown> {
  name: string
  /** For the documentation, in Markdown. */
  doc: string
  schema: z.ZodType<T, string>
  /** As the operator would write it. Without one, the setting has no value unless it is set. */
  default?: string
  /** The text of the documentation when the value without a setting depends on other things. */
  otherwise?: string
  /** Never shown in an error or a log. */
  secret?: true
}

/** Each setting by the name that it has in `Config`. */
export const settings = {
  profile: {
    name: 'COINRACK_PROFILE',
    doc: '`demo` brings its own chains, test tokens, a faucet and secrets. `production` refuses all of those.',
    schema: values.oneOf('demo', 'production'),
    default: 'demo',
  },
  host: {
    name: 'COINRACK_HOST',
    doc: 'Address to listen on. The demo profile listens on loopback only, unless `COINRACK_DEMO_PUBLIC` says otherwise.',
    schema: values.hostName,
    default: '127.0.0.1',
  },
  demoPublic: {
    name: 'COINRACK_DEMO_PUBLIC',
    doc: 'Lets the demo profile listen beyond loopback. It publishes a faucet key: anyone who reaches it can order for nothing.',
    schema: values.flag,
    default: 'false',
  },
  port: {
    name: 'COINRACK_PORT',
    doc: 'Port of REST, MCP, the web pages, `/healthz` and `/readyz`.',
    schema: values.port,
    default: '8080',
  },
  metricsPort: {
    name: 'COINRACK_METRICS_PORT',
    doc: 'Port on 127.0.0.1 of `/metrics` (Prometheus) and of the detailed `/readyz`. `0` turns it off.',
    schema: values.portOrOff,
    otherwise: '`COINRACK_PORT` and 1000, `9080` with the default; above 64535, less 1000',
  },
  ...replicaSettings,
  ...discoverySettings,
  publicIp: {
    name: 'COINRACK_PUBLIC_IP',
    doc: 'Address that customers of plans with a shared address connect to by SSH.',
    schema: values.ipAddress,
    otherwise: 'demo: `127.0.0.1`; production: must be set',
  },
  sshPorts: {
    name: 'COINRACK_SSH_PORTS',
    doc: 'Ports of the public address that are given to machines with a shared address: SSH, and ports that customers open. Both ends included.',
    schema: values.portRange,
    default: '22000-25999',
  },
  guestBlockedNetworks: {
    name: 'COINRACK_GUEST_BLOCKED_NETWORKS',
    doc: 'Networks that no machine reaches: by default all that IANA lists as special (private, for documentation, 6to4 and others), which hold the metadata addresses of clouds. Of IPv6 no machine reaches anything but global unicast (`2000::/3`) in any case, so not the well-known networks of NAT64. If your network has a NAT64 prefix of its own, add it.',
    schema: values.networks,
    default: defaultEgress.blockedNetworks.join(', '),
  },
  guestBlockedPorts: {
    name: 'COINRACK_GUEST_BLOCKED_PORTS',
    doc: 'TCP ports that no machine reaches anywhere: by default those of outgoing mail.',
    schema: values.ports,
    default: defaultEgress.blockedPorts.join(', '),
  },
  guestResolvers: {
    name: 'COINRACK_GUEST_RESOLVERS',
    doc: 'DNS server that machines ask. Of several the first one is used.',
    schema: values.ipv4Addresses,
    default: '',
  },
  guestBandwidth: {
    name: 'COINRACK_GUEST_BANDWIDTH',
    doc: 'Megabits per second for each machine, in each direction.',
    schema: values.megabits,
    default: String(defaultEgress.bandwidthMbit),
  },
  guestUsers: {
    name: 'COINRACK_GUEST_USERS',
    doc: 'Numbers of the users that machines run as when the service is root, each as one of its own: for nothing else on the host. Both ends included.',
    schema: values.userIds,
    default: `${defaultUserIds.from}-${defaultUserIds.to}`,
  },
  guestControlGroup: {
    name: 'COINRACK_GUEST_CONTROL_GROUP',
    doc: 'Control group that holds one for each machine, as a path below the root of every hierarchy. Limits that you set on it hold for all machines together.',
    schema: values.controlGroup,
    default: DEFAULT_PARENT,
  },
  guestDiskMegabytes: {
    name: 'COINRACK_GUEST_DISK_MEGABYTES',
    doc: "Megabytes per second that each machine reads, and that it writes, on the host's disk.",
    schema: values.perSecond,
    default: String(defaultDiskLimits.megabytes),
  },
  guestDiskOperations: {
    name: 'COINRACK_GUEST_DISK_OPERATIONS',
    doc: "Operations per second, of reading and of writing each, that each machine makes on the host's disk.",
    schema: values.perSecond,
    default: String(defaultDiskLimits.operations),
  },
  diskOvercommit: {
    name: 'COINRACK_DISK_OVERCOMMIT',
    doc: "How many times the room on the host's disk is promised to machines, since few fill theirs. Above 1 you have to watch it: machines of a full host stop.",
    schema: values.times,
    default: '1',
  },
  instantVps: {
    name: 'COINRACK_INSTANT_VPS',
    doc: 'Whether machines are clones of booted templates: `on`, `off`, or `auto`, which is on where machines are emulated and off with KVM. See the guide for operators.',
    schema: values.oneOf('auto', 'on', 'off'),
    default: 'auto',
  },
  addressPool: {
    name: 'COINRACK_ADDRESS_POOL',
    doc: 'IPv4 addresses for machines of plans with an address of their own: networks, ranges `first-last` or single ones. Of a network the first and the last address are left out, and everywhere the router and what this host has itself. Without a pool no such plan is shown.',
    schema: values.addressPool,
    default: '',
  },
  addressBridge: {
    name: 'COINRACK_ADDRESS_BRIDGE',
    doc: 'Interface, a bridge for one, on which this host answers (ARP, neighbour discovery) for addresses that machines have.',
    schema: values.interfaceName,
    otherwise: 'they are routed to this host',
  },
  addressGateway: {
    name: 'COINRACK_ADDRESS_GATEWAY',
    doc: 'Router on `COINRACK_ADDRESS_BRIDGE` that takes what machines send from addresses of the pool.',
    schema: values.ipv4Address,
    otherwise: 'as this host itself routes',
  },
  ipv6Prefix: {
    name: 'COINRACK_ADDRESS_IPV6',
    doc: 'IPv6 network of 64 bits or fewer: every new machine gets an address of its own out of its first /64, from `::100` on. Answered for on `COINRACK_ADDRESS_BRIDGE`, or routed to this host.',
    schema: values.ipv6Prefix,
    otherwise: 'machines have IPv4 only',
  },
  rdnsServer: {
    name: 'COINRACK_RDNS_SERVER',
    doc: "Primary name server of the reverse zones of machines' addresses, as `address` or `address:port`: it is sent signed dynamic updates (RFC 2136).",
    schema: values.nameServer,
    otherwise: 'customers cannot set reverse names',
  },
  rdnsKey: {
    name: 'COINRACK_RDNS_KEY',
    doc: 'Key of these updates (TSIG), as `algorithm:name:secret`.',
    schema: values.updateKey,
    otherwise: 'must be set with `COINRACK_RDNS_SERVER`',
    secret: true,
  },
  rdnsResolver: {
    name: 'COINRACK_RDNS_RESOLVER',
    doc: 'Name server that is asked, before a reverse name is published, where the name leads, as `address` or `address:port`.',
    schema: values.nameServer,
    otherwise: 'those that this host asks',
  },
  trustedProxies: {
    name: 'COINRACK_TRUSTED_PROXIES',
    doc: 'Proxies whose `X-Forwarded-For` is believed: addresses and networks, separated by commas.',
    schema: values.networks,
    default: '',
  },
  dataFolder: {
    name: 'COINRACK_DATA',
    doc: 'Data folder: everything that must survive. Back it up.',
    schema: values.absolutePath,
    otherwise: 'root: `/var/lib/coinrack`; else `$XDG_DATA_HOME/coinrack` or `~/.local/share/coinrack`',
  },
  cacheFolder: {
    name: 'COINRACK_CACHE',
    doc: 'Cache: images and programs that can be made again.',
    schema: values.absolutePath,
    otherwise: 'root: `/var/cache/coinrack`; else `$XDG_CACHE_HOME/coinrack` or `~/.cache/coinrack`',
  },
  databaseUrl: {
    name: 'DATABASE_URL',
    doc: 'A PostgreSQL server to use, or a primary with its standbys, as in `postgres://user:password@one,other/name`: whichever takes writes is used. Without it the service runs its own inside the data folder.',
    schema: values.databaseUrl,
    otherwise: 'embedded PostgreSQL',
    secret: true,
  },
  serverSecret: {
    name: 'COINRACK_SERVER_SECRET',
    doc: 'Seals root passwords and signs links. At least 32 bytes.',
    schema: values.secret,
    otherwise: 'demo: made once and kept in the data folder; production: must be set',
    secret: true,
  },
  depositSecret: {
    name: 'COINRACK_DEPOSIT_SECRET',
    doc: 'All deposit addresses come from it. **Never change it, and keep a copy elsewhere.** At least 32 bytes.',
    schema: values.secret,
    otherwise: 'demo: made once and kept in the data folder; production: must be set',
    secret: true,
  },
  receiptSecret: {
    name: 'COINRACK_RECEIPT_SECRET',
    doc: 'The key that receipts are signed with comes from it; replicas need the same. With another one, earlier receipts no longer fit the key that is published. At least 32 bytes.',
    schema: values.secret,
    otherwise: 'made once and kept in the data folder',
    secret: true,
  },
  chainsFile: {
    name: 'COINRACK_CHAINS',
    doc: 'JSON file with the chains, their RPC endpoints, tokens and treasury. Production only: the demo profile has its own chains.',
    schema: values.filePath,
    otherwise: 'demo: embedded chains; production: must be set',
  },
  sandboxes: {
    name: 'COINRACK_SANDBOXES',
    doc: 'Whether this host runs code sandboxes. Their templates are built at the first start, which takes minutes; until then, and where it is `false`, `create_sandbox` answers 503.',
    schema: values.flag,
    default: 'true',
  },
  sandboxOvercommit: {
    name: 'COINRACK_SANDBOX_OVERCOMMIT',
    doc: "How many times the host's memory and processors are promised to sandboxes, since most do little and have touched a fraction of theirs. Above 1 you have to watch the memory: when all want theirs at once, the host ends some.",
    schema: values.times,
    default: '1',
  },
  sandboxHostLostMinutes: {
    name: 'COINRACK_SANDBOX_HOST_LOST_MINUTES',
    doc: 'After how many minutes without a sandbox host what ran on it ends. Nobody pays for the time that a host was away; paused sandboxes wait until it is back.',
    schema: values.minutes,
    default: '15',
  },
  sandboxCopies: {
    name: 'COINRACK_SANDBOX_COPIES',
    doc: 'Whether every paused sandbox has a copy on a second host, from which it goes on when its own host is lost. It takes the space twice.',
    schema: values.flag,
    default: 'false',
  },
  sandboxPool: {
    name: 'COINRACK_SANDBOX_POOL',
    doc: 'How many sandboxes at most are made in advance, all kinds together: as many as were wanted within a minute lately, and one `micro` of `base` always. Each takes what it has touched of its memory, see the guide for operators, and none takes memory that a machine or a sandbox was promised. `0`: each is made when it is wanted.',
    schema: values.upTo100,
    default: '4',
  },
  sandboxDomain: {
    name: 'COINRACK_SANDBOX_DOMAIN',
    doc: "Domain below which exposed ports of sandboxes have names of their own, as `8000-sbx....sandbox.example.net`: `*.` of it has to lead here, with a certificate for it. No other site of yours may be in it: what runs there is the customers'. Without one they have a path below the public URL alone. E2B's packages take it as `E2B_DOMAIN`.",
    schema: values.hostName,
    otherwise: 'none',
  },
  catalogFile: {
    name: 'COINRACK_CATALOG',
    doc: 'JSON file with the plans that are sold.',
    schema: values.filePath,
    otherwise: 'the catalog that comes with the service',
  },
  clusterFile: {
    name: 'COINRACK_CLUSTER',
    doc: 'JSON file that describes an Incus cluster, whose members are hosts beside this one; see the guide to clusters.',
    schema: values.filePath,
    otherwise: 'none',
  },
  maxTopup: {
    name: 'COINRACK_MAX_TOPUP',
    doc: 'Largest single top-up, in whole US dollars.',
    schema: values.wholeDollars,
    default: '10000',
  },
  x402Key: {
    name: 'COINRACK_X402_KEY',
    doc: 'Private key of the account that pays the gas of top-ups by x402, 64 hexadecimal digits: the same on all chains, of no other use, and holding nothing but a little of the native coin of each.',
    schema: values.privateKey,
    otherwise: 'demo: made once and kept in the data folder; production: no top-ups by x402',
    secret: true,
  },
  x402AtOnce: {
    name: 'COINRACK_X402_AT_ONCE',
    doc: 'Up to so many whole US dollars of an account, what it pays by x402 is credited with the block that holds it; beyond, like any deposit. `0`: always like any deposit.',
    schema: values.wholeDollarsOrNone,
    default: '20',
  },
  lowBalanceHours: {
    name: 'COINRACK_LOW_BALANCE_HOURS',
    doc: 'How many hours before a balance runs out its owner is told, once for each of these, by mail and event. Empty: never.',
    schema: values.hours,
    default: '72, 24',
  },
  smtpUrl: {
    name: 'SMTP_URL',
    doc: 'Mail server, as `smtps://user:password@host`. Without it, mail is written into the data folder as `.eml` files.',
    schema: values.urlOf('smtp', 'smtps'),
    otherwise: 'files in the data folder',
    secret: true,
  },
  mailFrom: {
    name: 'COINRACK_MAIL_FROM',
    doc: 'Sender of all mail, as `Name <address>` or an address.',
    schema: values.mailAddress,
    otherwise: '`no-reply@` and the host of the public URL',
  },
  reservedDomains: {
    name: 'COINRACK_RESERVED_DOMAINS',
    doc: "Domains that nobody may register with, your own for one; the standards' reserved ones are always refused.",
    schema: values.domains,
    default: '',
  },
  rateNetworkTimes: {
    name: 'COINRACK_RATE_NETWORK_TIMES',
    doc: 'Limits by client address count an IPv6 /64 as one address; a whole IPv6 /48 may do so many times as much.',
    schema: values.times,
    default: '10',
  },
  eventDays: {
    name: 'COINRACK_EVENT_DAYS',
    doc: 'How many days events and what was delivered of them to webhooks are kept.',
    schema: values.days,
    default: '30',
  },
  webhookAllowedNetworks: {
    name: 'COINRACK_WEBHOOK_ALLOWED_NETWORKS',
    doc: 'Networks that webhooks, and the metadata of applications that sign in by OAuth, may lead to although they are no public hosts: your own, if customers are in them. Whoever is a customer reaches them with a POST, and anyone with a GET.',
    schema: values.networks,
    default: '',
  },
  logLevel: {
    name: 'COINRACK_LOG_LEVEL',
    doc: 'Least important level that is logged.',
    schema: values.oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    default: 'info',
  },
} as const satisfies Record<string, Setting>

/** Where the file of settings lies; itself no part of the file. */
export const CONFIG_FILE_SETTING = 'COINRACK_CONFIG'
