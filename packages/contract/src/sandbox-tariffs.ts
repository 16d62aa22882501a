/** The size of a sandbox, and the price of a running hour in micro-USD; it is charged for the time that it ran. */
export interface SandboxTariff {
  vcpus: number
  memory_mb: number
  /** The space that it can write beside its template. */
  disk_gb: number
  price_per_hour: bigint
}

/** By the name that `create_sandbox` takes. */
export const sandboxTariffs = {
  micro: { vcpus: 0.25, memory_mb: 512, disk_gb: 1, price_per_hour: 16_500n },
  small: { vcpus: 0.5, memory_mb: 1024, disk_gb: 2, price_per_hour: 33_000n },
  standard: { vcpus: 1, memory_mb: 2048, disk_gb: 4, price_per_hour: 66_000n },
  plus: { vcpus: 2, memory_mb: 4096, disk_gb: 8, price_per_hour: 132_000n },
  pro: { vcpus: 4, memory_mb: 8192, disk_gb: 16, price_per_hour: 264_000n },
  max: { vcpus: 8, memory_mb: 16_384, disk_gb: 32, price_per_hour: 528_000n },
} as const satisfies Record<string, SandboxTariff>

export type TariffName = keyof typeof sandboxTariffs
export const tariffNames = Object.keys(sandboxTariffs) as [TariffName, ...TariffName[]]
