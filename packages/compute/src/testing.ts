import { randomBytes } from 'node:crypto'
import type { SandboxSpec } from './ports/sandbox-runtime.ts'
import type { VpsSpec } from './ports/vps-driver.ts'

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz'

const makeId = () => Array.from(randomBytes(26), (byte) => BASE32[byte % 32]).join('')

/** A new machine's id. */
export const makeVpsId = () => `vps_${makeId()}`

/** A spec of a new machine, valid in form; a test that boots it hands in keys that work. */
export function makeSpec(change: Partial<VpsSpec> = {}): VpsSpec {
  return {
    id: makeVpsId(),
    vcpus: 1,
    memoryMb: 512,
    diskGb: 5,
    image: 'debian-12',
    hostname: 'web-1',
    sshAuthorizedKeys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA== owner'],
    rootPasswordHash: '$6$salt$hash',
    sshHostKey: { privateKey: 'private', publicKey: 'ssh-ed25519 AAAA' },
    sshAddress: { host: '127.0.0.1', port: 22_022 },
    ...change,
  }
}

/** A new sandbox's id. */
export const makeSandboxId = () => `sbx${makeId()}`
export const makeSnapshotId = () => `snp_${makeId()}`

/** A spec of a new sandbox, valid in form, of the smallest tariff. */
export function makeSandboxSpec(change: Partial<SandboxSpec> = {}): SandboxSpec {
  return { id: makeSandboxId(), template: 'base', vcpus: 0.25, memoryMb: 512, diskGb: 1, ...change }
}
