import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { ROOTFS } from '../images/recipe.ts'
import { macAddress } from '../machine/command-line.ts'
import { GATEWAY, GATEWAY6, GUEST_ADDRESS, GUEST_PREFIX_LENGTH, RESOLVER } from '../network/addresses.ts'
import { isGzip, userDataBytes } from '../ports/user-data.ts'
import type { VpsSpec } from '../ports/vps-driver.ts'

/*
 * How a foreign image becomes one particular machine: cloud-init, which every distribution's cloud image has, looks for
 * a volume named `cidata` (its data source NoCloud). The volume is attached at every boot and never changes: it says
 * who the machine is, and has the owner's user data. It also brings the program of our own images' first boot, which
 * finds our seed, takes it over and wipes it. So secrets are in seeds alone, as with our own images.
 */

export type CidataFiles = Record<'meta-data' | 'user-data' | 'network-config', string>

type Identity = Pick<VpsSpec, 'id' | 'hostname' | 'addresses' | 'userData'>

const FIRST_BOOT = join(ROOTFS, 'usr/lib/coinrack/first-boot')

/** Settings that keep what the first boot made, as in our own images; user data comes after it, and may say otherwise. */
const DEFAULTS = {
  users: [],
  disable_root: false,
  ssh_pwauth: true,
  ssh_deletekeys: false,
  // The one that the seed brings: so none is made.
  ssh_genkeytypes: ['ed25519'],
  preserve_hostname: true,
  manage_etc_hosts: false,
}

/** The files that cloud-init reads. JSON is YAML too, and quotes every value. */
export async function cidataFiles({ id, hostname, addresses, userData }: Identity): Promise<CidataFiles> {
  const identity = { 'instance-id': id, 'local-hostname': hostname }
  return {
    'meta-data': `${JSON.stringify(identity)}\n`,
    'network-config': `${JSON.stringify(networkConfig(id, addresses?.ipv6))}\n`,
    'user-data': multipart([
      textPart('cloud-boothook', await bootHook()),
      textPart('cloud-config', `#cloud-config\n${JSON.stringify(DEFAULTS)}\n`),
      ...(userData === undefined ? [] : [asPart(userData)]),
    ]),
  }
}

/** Runs at every boot, before anybody can log in. SELinux has to be told of files that came from outside. */
async function bootHook(): Promise<string> {
  return `#cloud-boothook
#!/bin/sh
/bin/sh <<'FIRST_BOOT'
${await readFile(FIRST_BOOT, 'utf8')}
FIRST_BOOT
! command -v restorecon >/dev/null || restorecon -R /etc/hostname /etc/hosts /etc/shadow /etc/ssh /root
`
}

function networkConfig(id: string, ipv6: string | undefined) {
  const address = `${GUEST_ADDRESS}/${GUEST_PREFIX_LENGTH}`
  const subnets = [
    { type: 'static', address, gateway: GATEWAY, dns_nameservers: [RESOLVER] },
    ...(ipv6 ? [{ type: 'static6', address: `${ipv6}/128`, gateway: GATEWAY6 }] : []),
  ]
  const card = { type: 'physical', name: 'eth0', mac_address: macAddress(id), 'accept-ra': false, subnets }
  return { version: 1, config: [card] }
}

/** A part of a MIME message, headers included. */
const part = (type: string, content: string | Buffer) => `Content-Type: ${type}
MIME-Version: 1.0
Content-Transfer-Encoding: base64

${Buffer.from(content as string)
  .toString('base64')
  .replace(/.{76}/g, '$&\n')}`

const textPart = (type: string, content: string) => part(`text/${type}; charset="utf-8"`, content)

/** User data is a part already if it is a MIME message; else its first line, or gzip's mark, says what it is. */
function asPart(userData: string): string {
  const bytes = userDataBytes(userData)
  if (isGzip(bytes)) return part('application/gzip', bytes)
  const text = bytes.toString()
  // A message that was kept in a mailbox has a first line that is no header.
  return text.startsWith('#') ? textPart('plain', text) : text.replace(/^From .*\r?\n/, '')
}

function multipart(parts: string[]): string {
  const digest = createHash('sha256').update(parts.join('\n')).digest('hex')
  const boundary = `coinrack-${digest.slice(0, 32)}`
  return `Content-Type: multipart/mixed; boundary="${boundary}"
MIME-Version: 1.0

${parts.map((text) => `--${boundary}\n${text}\n`).join('')}--${boundary}--
`
}

/**
 * The volume that cloud-init looks for: an ISO 9660 file system.
 * @param folder where the files may lie in the making: user data can be secret
 */
export async function makeCidata(identity: Identity, folder: string): Promise<Buffer> {
  const work = await mkdtemp(join(folder, 'cidata-'))
  try {
    const files = await cidataFiles(identity)
    const names = Object.keys(files) as (keyof CidataFiles)[]
    for (const name of names) await writeFile(join(work, name), files[name], { mode: 0o600 })
    const volume = join(work, 'volume.iso')
    const how = ['-as', 'mkisofs', '-quiet', '-no-pad', '-V', 'cidata', '-J', '-r', '-o', volume]
    await runCommand('xorriso', [...how, ...names.map((name) => join(work, name))])
    return await readFile(volume)
  } finally {
    await rm(work, { recursive: true })
  }
}
