import type { sandboxMetrics } from '@coinrack/contract/sandbox-metrics.ts'
import type { Sandbox } from '@coinrack/contract/sandboxes.ts'
import type { z } from 'zod'
import type { Services } from '../../platform/services.ts'
import { shownTemplate } from './new-sandbox.ts'

/**
 * The version of E2B's agent that clients are told: they choose by it what they ask for. It is the first one that takes the
 * bytes of a file as they are; later ones also keep metadata of files, which is not done here.
 */
export const ENVD_VERSION = '0.5.7'
/** Clients read it, and nothing follows from it. */
const CLIENT_ID = 'coinrack'

/** A sandbox as `get_sandbox` shows it on the wire. */
export type WireSandbox = z.input<typeof Sandbox>

/** The name below which the ports of sandboxes have names of their own, with its port; undefined where there is none. */
export function domainOf({ config }: Pick<Services, 'config'>): string | undefined {
  const { sandboxDomain, publicUrl } = config
  const { port } = new URL(publicUrl)
  return sandboxDomain && (port === '' ? sandboxDomain : `${sandboxDomain}:${port}`)
}

/** Whether there is such a sandbox for E2B's clients, to whom one that has ended is none. */
export const isThere = ({ state }: Pick<WireSandbox, 'state'>) => state !== 'ended' && state !== 'failed'

/** What a client needs to work with a sandbox. */
export const accessView = (
  services: Pick<Services, 'config'>,
  { id, template }: Pick<WireSandbox, 'id' | 'template'>,
  access: { inside: string; traffic: string },
) => ({
  sandboxID: id,
  templateID: shownTemplate(template),
  clientID: CLIENT_ID,
  envdVersion: ENVD_VERSION,
  envdAccessToken: access.inside,
  trafficAccessToken: access.traffic,
  domain: domainOf(services) ?? null,
})

/** A sandbox as it stands in a list. */
export const listedView = (sandbox: WireSandbox) => ({
  sandboxID: sandbox.id,
  templateID: shownTemplate(sandbox.template),
  clientID: CLIENT_ID,
  metadata: sandbox.metadata,
  startedAt: sandbox.created_at,
  endAt: sandbox.expires_at ?? sandbox.created_at,
  state: sandbox.state === 'paused' || sandbox.state === 'pausing' ? 'paused' : 'running',
  // Whole processors: the part of one that a tariff has is not known there.
  cpuCount: Math.max(1, Math.ceil(sandbox.vcpus)),
  memoryMB: sandbox.memory_mb,
  diskSizeMB: sandbox.disk_gb * 1024,
  envdVersion: ENVD_VERSION,
  volumeMounts: [],
})

/** All that is told of one sandbox. */
export const fullView = (services: Pick<Services, 'config'>, sandbox: WireSandbox) => ({
  ...listedView(sandbox),
  domain: domainOf(services) ?? null,
  allowInternetAccess: sandbox.network.allow_internet,
  network: { allowOut: sandbox.network.allow_out, denyOut: sandbox.network.deny_out },
  lifecycle: { onTimeout: sandbox.mode === 'persistent' ? 'pause' : 'kill', autoResume: false },
})

/** A sample of `get_sandbox_metrics` on the wire. */
export type WireSample = NonNullable<
  z.input<(typeof sandboxMetrics)['getSandboxMetrics']['output']>['samples']
>[number]

const MIB = 1024 ** 2

/** What a sandbox used at a moment: bytes, and percent of all its processors together. */
export const sampleView = (sample: WireSample) => ({
  timestamp: sample.at,
  timestampUnix: Math.floor(Date.parse(sample.at) / 1000),
  cpuCount: sample.vcpus,
  cpuUsedPct: Math.round((sample.cpu_percent / Math.max(1, sample.vcpus)) * 100) / 100,
  memUsed: Math.round(sample.memory_used_mb * MIB),
  memTotal: Math.round(sample.memory_total_mb * MIB),
  memCache: Math.round(sample.memory_cache_mb * MIB),
  diskUsed: Math.round(sample.disk_used_mb * MIB),
  diskTotal: Math.round(sample.disk_total_mb * MIB),
})
