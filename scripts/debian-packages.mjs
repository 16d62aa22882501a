/**
 * Debian packages that the service needs beside Node. The one place that names them.
 * @type {Record<'start' | 'test', string[]>}
 */
const machine = process.arch === 'arm64' ? ['qemu-system-arm'] : ['qemu-system-x86', 'grub-pc-bin']

const start = [
  ...machine,
  'ca-certificates',
  'debian-archive-keyring',
  'e2fsprogs',
  'mmdebstrap',
  'openssh-client',
  'qemu-utils',
  'util-linux',
]

export const debianPackages = {
  start,
  // A password login, pgbench as the floor of the ledger's benchmark, processes looked at.
  test: [...start, 'procps', 'sshpass'],
}
