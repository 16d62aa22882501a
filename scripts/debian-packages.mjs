const start = [
  'bind9-dnsutils',
  'ca-certificates',
  'debian-archive-keyring',
  'e2fsprogs',
  'fdisk',
  'gpgv',
  'grub-pc-bin',
  'iproute2',
  'libatomic1',
  'mmdebstrap',
  'nftables',
  'openssh-client',
  'openssl',
  'python3',
  'python3-dnspython',
  'qemu-system-x86',
  'qemu-utils',
  'util-linux',
  'xorriso',
]

/**
 * Debian packages that the service and its tests need beside Node. The one place that names them.
 * @type {Record<'start' | 'test' | 'bench' | 'tools' | 'python', string[]>}
 */
export const debianPackages = {
  start,
  test: [
    ...start,
    'caddy',
    'chromium',
    'curl',
    'gnupg',
    'haproxy',
    'jq',
    'knot',
    'mypy',
    'nginx',
    'postgresql-client',
    'procps',
    'python3-hatchling',
    'python3-httpx',
    'python3-venv',
    'sshpass',
  ],
  // A container runtime, which sandboxes are measured beside.
  bench: [...start, 'runc'],
  // Programs of the repository that start nothing.
  tools: [],
  // What builds the Python client.
  python: ['python3', 'python3-hatchling'],
}

/**
 * The packages among them that Debian would run as services of the host. The tests run them as programs, on ports of
 * their own.
 */
export const neverServices = ['caddy', 'haproxy', 'knot', 'nginx']
