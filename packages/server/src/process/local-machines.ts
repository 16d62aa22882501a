import { osImages } from '@coinrack/compute/images/catalog.ts'
import type { ImageStore } from '@coinrack/compute/images/image-store.ts'
import { createQemuDriver, type QemuDriver } from '@coinrack/compute/local-vps/driver.ts'
import { createQemuGuestChannel } from '@coinrack/compute/local-vps/guest-channel.ts'
import { hostAcceleration } from '@coinrack/compute/machine/host-acceleration.ts'
import { createSandboxes, type Sandboxes } from '@coinrack/compute/sandbox/runtime.ts'
import { sandboxTariffs } from '@coinrack/contract/sandbox-tariffs.ts'
import type { ServiceUser } from '@coinrack/host/service-user.ts'
import type { Logger } from 'pino'
import type { Catalog } from '../config/catalog.ts'
import type { Config } from '../config/config.ts'
import { LOCAL_HOST, type MachineHost } from '../platform/machine-host.ts'
import type { Clock, Random, Services } from '../platform/services.ts'
import { unpromisedMemory } from '../sandboxes/placement/unpromised-memory.ts'

const PREPARE_AGAIN_MS = 60_000
const LAST_LINES = 4
const KEEP_TEMPLATE_MS = 600_000
const TEND_POOL_MS = 5_000

/** The size that is ordered most. */
const { vcpus, memory_mb: memoryMb, disk_gb: diskGb } = sandboxTariffs.micro
const microSize = { vcpus, memoryMb, diskGb }

/** The machines and sandboxes of this computer, as its settings describe it. */
export interface LocalMachines {
  host: MachineHost
  /**
   * Builds what machines and sandboxes are made from, which can take minutes, and opens the sandboxes.
   * @param afterwards called once machines can be made
   * @returns what ends the sandboxes
   */
  begin(services: Services, afterwards: () => void): Promise<() => Promise<void>>
}

interface World {
  config: Config
  user: ServiceUser | undefined
  clock: Clock
  random: Random
  log: Logger
  images: ImageStore
  /** Tells the operator. */
  say(line: string): void
}

export function localMachines(world: World, region: string): LocalMachines {
  const { config, user, clock, random, log, images, say } = world
  const { dataFolder, cacheFolder } = config
  const shared = {
    dataFolder,
    cacheFolder,
    user,
    userIds: config.guestUsers,
    controlGroup: config.guestControlGroup,
    clock,
    log,
    egress: {
      blockedNetworks: config.guestBlockedNetworks,
      blockedPorts: config.guestBlockedPorts,
      resolvers: config.guestResolvers,
      bandwidthMbit: config.guestBandwidth,
    },
  }
  const driver = createQemuDriver({
    ...shared,
    diskLimits: { megabytes: config.guestDiskMegabytes, operations: config.guestDiskOperations },
    instant: config.instantVps,
    diskOvercommit: config.diskOvercommit,
    addressRouting: { bridge: config.addressBridge, gateway: config.addressGateway },
  })
  const openSandboxes = (services: Services) =>
    createSandboxes({
      ...shared,
      acceleration: hostAcceleration({ cacheFolder, images, user }),
      pool: {
        most: config.sandboxPool,
        always: [{ template: 'base', ...microSize }],
        roomMb: () => unpromisedMemory(services),
      },
    })
  return {
    host: {
      id: LOCAL_HOST,
      kind: 'qemu',
      region,
      isRemote: false,
      network: config,
      driver,
      guests: createQemuGuestChannel({ dataFolder, random }),
      console: driver.console,
      snapshots: driver.snapshots,
      retainedDisks: driver.retainedDisks,
    },
    async begin(services, afterwards) {
      const machines = prepareMachines(driver, services.catalog, log, say)
      void machines.then(afterwards)
      const sandboxes = config.sandboxes
        ? await openSandboxes(services).catch((error) =>
            log.error({ err: error }, 'Opening the sandboxes failed'),
          )
        : undefined
      if (sandboxes) services.sandboxes.set(LOCAL_HOST, sandboxes)
      // One after the other: each keeps all processors busy on a new host.
      if (sandboxes) void machines.then(() => prepareSandboxes(sandboxes, log, say))
      return async () => sandboxes?.close()
    },
  }
}

/** Builds what machines are made from. It can take minutes, and the service answers meanwhile. */
async function prepareMachines(
  driver: QemuDriver,
  catalog: Catalog,
  log: Logger,
  say: (line: string) => void,
): Promise<void> {
  try {
    const { accelerator } = await driver.prepare(say)
    say(`Machines can be ordered; they run under ${accelerator}`)
  } catch (error) {
    // A program that failed tells its whole story: the end of it says why.
    const reason = (error as Error).message.trim().split('\n').slice(-LAST_LINES).join('\n')
    log.error({ reason }, 'Preparing machines failed; it is tried again')
    setTimeout(() => prepareMachines(driver, catalog, log, say), PREPARE_AGAIN_MS).unref()
    return
  }
  const wanted = mostWanted(catalog)
  if (!wanted) return
  const keep = () =>
    driver.keepTemplate(wanted).catch((error) => log.error({ err: error }, 'Keeping a template ready failed'))
  setInterval(keep, KEEP_TEMPLATE_MS).unref()
  await keep()
}

/** Builds what sandboxes begin as, the smallest first. It can take minutes; until then none can be made. */
async function prepareSandboxes(
  sandboxes: Sandboxes,
  log: Logger,
  say: (line: string) => void,
): Promise<void> {
  try {
    for (const { name } of await sandboxes.runtime.templates()) {
      await sandboxes.prepare(name, say)
      await sandboxes.keepTemplate(name, microSize)
      say(`Sandboxes of ${name} can be made`)
    }
  } catch (error) {
    log.error({ err: error }, 'Preparing sandboxes failed; it is tried again')
    setTimeout(() => prepareSandboxes(sandboxes, log, say), PREPARE_AGAIN_MS).unref()
    return
  }
  const tend = () =>
    sandboxes.tendPool().catch((error) => log.error({ err: error }, 'Tending the pool of sandboxes failed'))
  setInterval(tend, TEND_POOL_MS).unref()
  await tend()
}

/** The machine that is ordered most: of the cheapest plan, with the first image that it has. */
function mostWanted({ plans }: Catalog) {
  const cheapest = plans.reduce((least, plan) => (plan.price < least.price ? plan : least))
  const image = osImages.find(({ slug }) => !cheapest.images || cheapest.images.includes(slug))
  return image && { image: image.slug, vcpus: cheapest.vcpus, memoryMb: cheapest.memory_mb }
}
