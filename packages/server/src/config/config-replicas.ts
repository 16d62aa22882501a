import type { Setting, settings } from './config-settings.ts'
import * as values from './config-values.ts'

/** The settings of a service that is one of several. */
export const replicaSettings = {
  drainSeconds: {
    name: 'COINRACK_DRAIN_SECONDS',
    doc: 'How long a service that is told to end still takes requests, while `/readyz` answers 503: as long as a load balancer in front of several takes to see that. Without one, `0`.',
    schema: values.seconds,
    default: '0',
  },
  localMachines: {
    name: 'COINRACK_LOCAL_MACHINES',
    doc: 'Whether machines and sandboxes run on this computer. `false` in a replica on another computer than theirs, which passes on what needs them.',
    schema: values.flag,
    default: 'true',
  },
  hostsListen: {
    name: 'COINRACK_HOSTS_LISTEN',
    doc: 'Address and port of this machine on which it takes sandbox hosts, such as `0.0.0.0:7444`; without it, it takes none. What comes there is encrypted, and has to prove by a certificate of this installation which host it is.',
    schema: values.socketAddress,
  },
  hostsAddress: {
    name: 'COINRACK_HOSTS_ADDRESS',
    doc: 'Where sandbox hosts find this service, as a name or an address with a port; for several, separated by commas.',
    schema: values.serviceAddresses,
    otherwise: 'the address of `COINRACK_HOSTS_LISTEN`',
  },
  replicaAddress: {
    name: 'COINRACK_REPLICA_ADDRESS',
    doc: 'Address and port of this machine on which it listens for other replicas of the service, such as `10.0.0.5:7443`: replicas on other machines have to reach it. What comes there is encrypted, and has to prove that it has the server secret. Port 0: whichever is free.',
    schema: values.socketAddress,
    default: '127.0.0.1:0',
  },
} as const satisfies Record<string, Setting>

/** The settings that each replica has for itself: where it listens, and what runs on its own computer. */
export const ownOfReplica = [
  'host',
  'port',
  'metricsPort',
  'localMachines',
  'replicaAddress',
  'hostsListen',
  'dataFolder',
  'cacheFolder',
  'logLevel',
  'addressBridge',
  'instantVps',
  'guestUsers',
  'guestControlGroup',
  'guestDiskMegabytes',
  'guestDiskOperations',
] as const satisfies (keyof typeof settings)[]
