import { readFileSync } from 'node:fs'
import { run } from './run.mjs'

const NAME = 'coinrack'

/** As root: the system user that PostgreSQL and the machines run as. */
export async function ensureServiceUser() {
  if (process.getuid() !== 0) return
  if (!hasLine('/etc/passwd', NAME)) {
    const noLogin = ['--no-create-home', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin']
    await run('useradd', ['--system', '--user-group', ...noLogin, NAME])
  }
  // Members of this group may use hardware virtualisation.
  const kvm = hasLine('/etc/group', 'kvm')
  if (kvm && !kvm.split(':')[3].split(',').includes(NAME))
    await run('usermod', ['--append', '--groups', 'kvm', NAME])
}

/**
 * @param {string} file
 * @param {string} name
 */
function hasLine(file, name) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .find((line) => line.startsWith(`${name}:`))
}
