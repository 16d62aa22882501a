import type { VpsMetrics } from '../ports/vps-driver.ts'
import type { IncusClient } from './client.ts'

/*
 * The usage of machines as their member counts it from outside: one question for all machines of a member
 * (https://linuxcontainers.org/incus/docs/main/reference/provided_metrics/).
 */

/** Incus itself counts anew after eight seconds. */
const HOLDS_MS = 8_000

/** Each sample: its name, its labels and its value. */
const SAMPLE = /^(\w+)\{(.*)\} (\S+)$/
const LABEL = /(\w+)="([^"]*)"/g

/** Adds up what the text says of each instance. Times that a processor did nothing are not counted. */
export function readMetrics(text: string): Map<string, VpsMetrics> {
  const found = new Map<string, VpsMetrics>()
  for (const line of text.split('\n')) {
    const [, name, labels, value] = SAMPLE.exec(line) ?? []
    if (name === undefined) continue
    const label = Object.fromEntries([...labels!.matchAll(LABEL)].map(([, key, text]) => [key, text]))
    const usage = found.get(label.name!) ?? nothingUsed()
    found.set(label.name!, usage)
    add(usage, name, label, Number(value))
  }
  return found
}

const nothingUsed = (): VpsMetrics => ({
  cpuSeconds: 0,
  memoryBytes: 0,
  diskReadBytes: 0,
  diskWrittenBytes: 0,
  diskUsedBytes: 0,
  rxBytes: 0,
  txBytes: 0,
})

function add(
  usage: VpsMetrics,
  name: string,
  label: Record<string, string | undefined>,
  value: number,
): void {
  switch (name) {
    case 'incus_cpu_seconds_total':
      if (label.mode !== 'idle' && label.mode !== 'iowait') usage.cpuSeconds += value
      break
    case 'incus_memory_MemTotal_bytes':
      usage.memoryBytes += value
      break
    case 'incus_memory_MemAvailable_bytes':
      usage.memoryBytes -= value
      break
    case 'incus_disk_read_bytes_total':
      usage.diskReadBytes += value
      break
    case 'incus_disk_written_bytes_total':
      usage.diskWrittenBytes += value
      break
    case 'incus_network_receive_bytes_total':
      usage.rxBytes! += value
      break
    case 'incus_network_transmit_bytes_total':
      usage.txBytes! += value
      break
  }
}

export interface Metrics {
  /** The usage of the instance of this name; undefined when its member does not report it. */
  of(name: string): Promise<VpsMetrics | undefined>
}

export function createMetrics(
  client: IncusClient,
  { member: name, clock }: { member: string; clock: { now(): Date } },
): Metrics {
  const member = client.members.find((each) => each.name === name)!
  let last: { at: number; usage: Promise<Map<string, VpsMetrics>> } | undefined
  return {
    async of(instance) {
      const now = clock.now().getTime()
      if (!last || now - last.at >= HOLDS_MS || now < last.at)
        // A member that does not answer this leaves a gap.
        last = { at: now, usage: client.text('/1.0/metrics', member).then(readMetrics, () => new Map()) }
      return (await last.usage).get(instance)
    },
  }
}
