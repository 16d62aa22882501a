import { checkNetwork } from './sandbox-network.ts'
import { SandboxError, type SandboxSpec } from './sandbox-runtime.ts'

const ID = /^sbx[0-9a-hjkmnp-tv-z]{26}$/
const SNAPSHOT_ID = /^snp_[0-9a-hjkmnp-tv-z]{26}$/
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/
const ENV_BYTES = 64 * 1024

/** An id becomes the name of a folder, so nothing else may pass. */
export const isSandboxId = (id: string) => ID.test(id)
export const isSnapshotId = (id: string) => SNAPSHOT_ID.test(id)

/** Whether these may be variables of a program: names of POSIX, no NUL, and not more than it can be given. */
export const isEnvironment = (env: Record<string, string>) =>
  Object.entries(env).every(([name, value]) => VARIABLE.test(name) && !value.includes('\0')) &&
  Buffer.byteLength(Object.entries(env).flat().join('\0')) <= ENV_BYTES

/** Throws SandboxError `spec_invalid` for a spec that could not become a working sandbox, or mean something else. */
export function checkSandboxSpec(spec: SandboxSpec): void {
  const { id, vcpus, memoryMb, diskGb, env = {}, network } = spec
  const rules: [string, boolean][] = [
    [`id ${id}`, isSandboxId(id)],
    [`vcpus ${vcpus}`, vcpus > 0 && vcpus <= 64 && (vcpus <= 1 || Number.isInteger(vcpus))],
    [`memoryMb ${memoryMb}`, Number.isInteger(memoryMb) && memoryMb >= 128],
    [`diskGb ${diskGb}`, Number.isInteger(diskGb) && diskGb >= 1],
    ['env', isEnvironment(env)],
  ]
  const broken = rules.filter(([, holds]) => !holds).map(([rule]) => rule)
  if (broken.length > 0) throw new SandboxError('spec_invalid', `Not a sandbox: ${broken.join(', ')}`)
  if (network) checkNetwork(network)
}
