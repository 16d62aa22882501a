import { SandboxError, type SandboxSize } from '../ports/sandbox-runtime.ts'
import { DriverError } from '../ports/vps-driver.ts'

/** Throws `spec_invalid` unless both are of one size: a state fits into no other. */
export function sameSize(spec: SandboxSize, { vcpus, memoryMb, diskGb }: SandboxSize): void {
  if (spec.vcpus === vcpus && spec.memoryMb === memoryMb && spec.diskGb === diskGb) return
  throw new SandboxError(
    'spec_invalid',
    `It goes on only with ${vcpus} processors, ${memoryMb} MB of memory and ${diskGb} GB of disk`,
  )
}

/** Turns a failure of the host or of a guest into a failure of this sandbox. */
export function asSandboxError(error: unknown): SandboxError {
  if (error instanceof SandboxError) return error
  const isFull = error instanceof DriverError && error.code === 'no_space'
  return new SandboxError(isFull ? 'no_space' : 'guest_failed', (error as Error).message, { cause: error })
}
