import { debianPackages, neverServices } from '../debian-packages.mjs'
import { run, runWithProgress } from './run.mjs'

/**
 * Installs the missing Debian packages when root can; otherwise says once which ones and how.
 * @param {'start' | 'test' | 'bench' | 'tools' | 'python'} purpose
 */
export async function ensureDebianPackages(purpose) {
  const wanted = debianPackages[purpose]
  if (!wanted) throw new Error(`Say what to set up for: ${Object.keys(debianPackages).join(' or ')}.`)
  const missing = wanted.length === 0 ? [] : await missingPackages(wanted)
  if (missing.length === 0) return

  const install = ['install', '--yes', '--no-install-recommends', ...missing]
  if (process.getuid() !== 0) {
    throw new Error(
      `Debian packages are missing: ${missing.join(', ')}. Install them, and run this again:\n\n  sudo apt-get ${install.join(' ')}`,
    )
  }
  const patience = ['-o', 'DPkg::Lock::Timeout=600', '-o', 'Acquire::Retries=3']
  const quiet = { DEBIAN_FRONTEND: 'noninteractive' }
  await runWithProgress('Updating the list of Debian packages', 'apt-get', [...patience, 'update'], quiet)
  await runWithProgress(
    `Installing ${missing.join(', ')}`,
    'sh',
    ['-c', INSTALL, 'apt-get', ...patience, ...install],
    quiet,
  )
  // Debian also has them begin with the host.
  for (const name of neverServices.filter((each) => missing.includes(each)))
    await run('sh', ['-c', DISABLE, name])
}

const DISABLE = `
test ! -x /usr/bin/systemctl || systemctl disable "$0.service"
test ! -e "/etc/init.d/$0" || update-rc.d "$0" disable`

/**
 * Runs apt-get where the programs by which packages start their services do nothing: a mount namespace, which ends with it
 * however it ends. A host that allows none has a policy for that, as containers do, or starts them.
 */
const INSTALL = `
if unshare --mount true 2>/dev/null; then
  exec unshare --mount sh -ec '
    for program in /usr/sbin/invoke-rc.d /usr/bin/deb-systemd-invoke; do
      mount --bind /bin/true "$program"
    done
    exec apt-get "$@"' "$0" "$@"
fi
exec apt-get "$@"`

/** @param {string[]} wanted */
async function missingPackages(wanted) {
  // It fails when it knows nothing of one of them, and tells of the others all the same.
  const listed = await run('dpkg-query', [
    '--show',
    `-f=\${Package} \${db:Status-Status}\n`,
    ...wanted,
  ]).catch((error) => {
    if (error.code === 'ENOENT')
      throw new Error(`This is no Debian. It takes what these packages hold: ${wanted.join(', ')}.`)
    return error.output
  })
  const installed = new Set(
    listed.split('\n').flatMap((line) => (line.endsWith(' installed') ? [line.split(' ')[0]] : [])),
  )
  return wanted.filter((name) => !installed.has(name))
}
