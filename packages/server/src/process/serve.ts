import type { FastifyInstance } from 'fastify'
import { hostsAddresses } from '../config/hosts-addresses.ts'
import { asLeader } from '../data-folder/leader-lock.ts'
import { registerHosts, unknownHosts } from '../hosts/host-store.ts'
import { paymentMetrics } from '../payments/payment-metrics.ts'
import type { Services } from '../platform/services.ts'
import { announceReplica } from '../replicas/announce-replica.ts'
import { openAuthority } from '../sandbox-hosts/authority.ts'
import { listenForHosts } from '../sandbox-hosts/listen-for-hosts.ts'
import { endPrograms } from '../sandboxes/programs/end-programs.ts'
import { listenForReplicas } from '../transport/replica-link.ts'
import { createApp } from './app.ts'
import { createDrain } from './drain.ts'
import { createMetrics } from './metrics.ts'
import { createOperatorServer } from './operator-server.ts'
import { createReadiness } from './readiness.ts'
import { runReconcilers, tendMachines, tendRemoteHosts, watchLocalHost } from './reconcilers.ts'

export class PortError extends Error {}

/** The machines of this computer, which one of the services on its data folder tends. */
interface Local {
  machinesPidFile: string
  /** Called when it is this service's turn. @returns what ends it, once nothing asks for it any more */
  begin?(): Promise<() => Promise<void>>
}

/**
 * Takes requests and does what runs in the background. Of several services on the same data folder one tends the machines;
 * the others take its place when it ends, however it ends.
 * @param local undefined in a replica whose machines are all elsewhere
 * @returns what ends it all, after the requests and steps that are under way
 * @throws PortError
 */
export async function serve(
  services: Services,
  { local }: { local: Local | undefined },
): Promise<() => Promise<void>> {
  const { config, log } = services
  await registerHosts(services.db, services.hosts.values())
  for (const { id, machines } of await unknownHosts(services.db, [...services.hosts.keys()]))
    log.error({ host: id, machines }, 'The settings name no such host: nothing is done with its machines')
  const drain = createDrain(createReadiness(services), config.drainSeconds)
  const { readiness } = drain
  const metrics = createMetrics([paymentMetrics(services)])
  const app = createApp(services, readiness, metrics)
  const operatorApp = createOperatorServer(readiness, metrics)
  drain.closeConnections(app)
  await listen(app, config.host, config.port, 'COINRACK_PORT')
  if (config.metricsPort > 0)
    await listen(operatorApp, '127.0.0.1', config.metricsPort, 'COINRACK_METRICS_PORT')
  const link = await listenForReplicas(app, { serverSecret: config.serverSecret!, at: config.replicaAddress })
  const replica = await announceReplica(services, link.address)
  const endReconcilers = runReconcilers(services)
  const endRemote = tendRemoteHosts(services)
  let served: Promise<unknown> = Promise.resolve()
  const endMachines = local
    ? asLeader(
        local.machinesPidFile,
        async () => {
          log.info('This service tends the machines')
          await replica.tends()
          await endPrograms(services)
          const end = await local.begin?.()
          const hosts = await takeSandboxHosts(services)
          const endLoops = tendMachines(services)
          return async () => {
            await Promise.all([endLoops(), served])
            await hosts?.close()
            await end?.()
          }
        },
        (error) => log.error({ err: error }, 'The lock of the machines cannot be asked for'),
      )
    : watchLocalHost(services)
  return async () => {
    await drain.begin(app)
    // First of all, so that requests which wait for a change are answered and do not hold up the rest.
    await services.changes.close()
    served = Promise.all([app.close(), drain.ended(), operatorApp.close(), link.close()])
    await Promise.all([served, endReconcilers(), endRemote(), endMachines()])
    await replica.end()
  }
}

/** Takes sandbox hosts, where the settings say so. */
async function takeSandboxHosts(services: Services) {
  const { hostsListen } = services.config
  if (!hostsListen) return undefined
  const addresses = hostsAddresses(services.config)
  const listening = await listenForHosts(services, await openAuthority(services), {
    at: hostsListen,
    addresses,
  })
  services.log.info({ address: listening.address, addresses }, 'This service takes sandbox hosts')
  return listening
}

async function listen(app: FastifyInstance, host: string, port: number, setting: string): Promise<void> {
  try {
    await app.listen({ host, port })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new PortError(
      `Port ${port} of ${host} is taken by another program\n  Set ${setting} to a free port.`,
    )
  }
}
