import { isIPv4 } from 'node:net'
import { isMachineId } from '../machine/machine-id.ts'
import { areAddresses } from '../network/own-addresses.ts'
import { type BootChange, DriverError, type VpsSpec } from '../ports/vps-driver.ts'

const HOSTNAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/
/** The form of a hash that may stand in a line of /etc/shadow. */
const PASSWORD_HASH = /^\$6\$[a-zA-Z0-9./$=]+$/
const MIN_MEMORY_MB = 256
const MAX_USER_DATA_BYTES = 64 * 1024

/**
 * Throws DriverError `spec_invalid` for a spec that could not become a working machine, or whose text would end up
 * where it means something else: in the guest's files, in QEMU's arguments, in a path.
 */
export function checkSpec(spec: VpsSpec): void {
  const {
    id,
    vcpus,
    memoryMb,
    diskGb,
    hostname,
    sshAuthorizedKeys,
    rootPasswordHash,
    sshHostKey,
    sshAddress,
    addresses = {},
    userData = '',
  } = spec
  const rules: [string, boolean][] = [
    [`id ${id}`, isMachineId(id)],
    [`vcpus ${vcpus}`, Number.isInteger(vcpus) && vcpus >= 1],
    [`memoryMb ${memoryMb}`, Number.isInteger(memoryMb) && memoryMb >= MIN_MEMORY_MB],
    [`diskGb ${diskGb}`, Number.isInteger(diskGb) && diskGb >= 2],
    [`hostname ${hostname}`, HOSTNAME.test(hostname)],
    ['sshAuthorizedKeys', sshAuthorizedKeys.every((line) => !/[\n\r\0]/.test(line))],
    ['rootPasswordHash', PASSWORD_HASH.test(rootPasswordHash)],
    ['sshHostKey', sshHostKey.publicKey.startsWith('ssh-ed25519 ')],
    ['userData', Buffer.byteLength(userData) <= MAX_USER_DATA_BYTES && !userData.includes('\0')],
    [`sshAddress ${sshAddress.host}`, isIPv4(sshAddress.host)],
    [
      `port ${sshAddress.port}`,
      Number.isInteger(sshAddress.port) && sshAddress.port > 0 && sshAddress.port < 65536,
    ],
    [`addresses ${JSON.stringify(addresses)}`, areAddresses(addresses)],
    [
      `sshAddress ${sshAddress.host}:${sshAddress.port} beside its own address`,
      addresses.ipv4 === undefined || (sshAddress.host === addresses.ipv4 && sshAddress.port === 22),
    ],
  ]
  const broken = rules.filter(([, holds]) => !holds).map(([name]) => name)
  if (broken.length > 0)
    throw new DriverError('spec_invalid', `Not a machine that can be made: ${broken.join(', ')}`)
}

/** Throws DriverError `spec_invalid`, for the same reasons. */
export function checkBootChange({ hostname, rootPasswordHash }: BootChange): void {
  if (HOSTNAME.test(hostname) && PASSWORD_HASH.test(rootPasswordHash)) return
  throw new DriverError('spec_invalid', `Not a change that can be made: ${hostname}`)
}
