import type { BootChange, VpsSpec } from '../ports/vps-driver.ts'
import { makeTar, type TarEntry } from './tar.ts'
import { UPLINK_FILE, type Uplink, uplinkFile } from './uplink.ts'
import { userDataFiles } from './user-data.ts'

const SEED_UNIT_BYTES = 64 * 1024
const RESOLVER_FILE = 'etc/resolv.conf'
const SET_UP_BY_CLOUD_INIT = [RESOLVER_FILE, UPLINK_FILE]

/**
 * Root logs in by key and password, and the server has the one key that clients can verify. It is the file in which
 * cloud-init sets what user data says of passwords (`ssh_pwauth`).
 */
const SSH_SETTINGS = {
  path: 'etc/ssh/sshd_config.d/50-cloud-init.conf',
  mode: 0o600,
  content: 'PermitRootLogin yes\nPasswordAuthentication yes\nHostKey /etc/ssh/ssh_host_ed25519_key\n',
}

/** The facts about a machine that its seed states. */
export type Personality = Pick<
  VpsSpec,
  'id' | 'hostname' | 'sshAuthorizedKeys' | 'rootPasswordHash' | 'sshHostKey' | 'userData'
> & { uplink: Uplink }

/** The seed disk of a machine: a tar of the files that its first boot lays over the image. */
export const makeSeed = (personality: Personality, mtime: Date): Buffer =>
  makeTar([...personalFiles(personality), ...userDataFiles(personality)], { mtime, size: SEED_UNIT_BYTES })

/** The seed of a machine from a foreign image: the facts that only we know. Network and user data are cloud-init's. */
export function makeForeignSeed(personality: Personality, mtime: Date): Buffer {
  const files = personalFiles(personality).filter(({ path }) => !SET_UP_BY_CLOUD_INIT.includes(path))
  return makeTar([...files, SSH_SETTINGS], { mtime, size: SEED_UNIT_BYTES })
}

/** The seed of a machine that has none: as one that was consumed. */
export const noSeed = (): Buffer => Buffer.alloc(SEED_UNIT_BYTES)

/** The files that make a copy of an image one particular machine. */
export function personalFiles(personality: Personality): TarEntry[] {
  const { hostname, sshAuthorizedKeys, rootPasswordHash, sshHostKey, uplink } = personality
  const lines = (...text: string[]) => `${text.join('\n')}\n`
  return [
    { path: 'etc/hostname', mode: 0o644, content: lines(hostname) },
    {
      path: 'etc/hosts',
      mode: 0o644,
      content: lines(
        '127.0.0.1 localhost',
        `127.0.1.1 ${namesOf(hostname)}`,
        '::1 localhost ip6-localhost ip6-loopback',
      ),
    },
    ...uplinkFiles(uplink),
    { path: 'etc/ssh/ssh_host_ed25519_key', mode: 0o600, content: lines(sshHostKey.privateKey.trim()) },
    { path: 'etc/ssh/ssh_host_ed25519_key.pub', mode: 0o644, content: lines(sshHostKey.publicKey.trim()) },
    { path: 'root/.ssh/', mode: 0o700 },
    { path: 'root/.ssh/authorized_keys', mode: 0o600, content: lines(...sshAuthorizedKeys) },
    { path: 'run/coinrack/', mode: 0o700 },
    { path: 'run/coinrack/root-password-hash', mode: 0o600, content: lines(rootPasswordHash) },
  ]
}

/**
 * The seed that a later boot takes over: a tar like that of the first one, with less in it. The guest's first-boot
 * program reads it the same way, and wipes it.
 */
export function makeChangeSeed({ hostname, rootPasswordHash }: BootChange, mtime: Date): Buffer {
  return makeTar(
    [
      { path: 'etc/hostname', mode: 0o644, content: `${hostname}\n` },
      { path: 'run/coinrack/', mode: 0o700 },
      { path: 'run/coinrack/root-password-hash', mode: 0o600, content: `${rootPasswordHash}\n` },
    ],
    { mtime, size: SEED_UNIT_BYTES },
  )
}

/** The seed that gives a machine another address at its next boot. */
export const makeUplinkSeed = (uplink: Uplink, mtime: Date): Buffer =>
  makeTar(uplinkFiles(uplink), { mtime, size: SEED_UNIT_BYTES })

const uplinkFiles = (uplink: Uplink): TarEntry[] => [
  { path: RESOLVER_FILE, mode: 0o644, content: `nameserver ${uplink.resolver}\n` },
  { path: UPLINK_FILE, mode: 0o644, content: uplinkFile(uplink) },
]

/** The names of a machine in its /etc/hosts: the whole one, and its first label. */
export function namesOf(hostname: string): string {
  const shortName = hostname.split('.')[0]!
  return shortName === hostname ? hostname : `${hostname} ${shortName}`
}
