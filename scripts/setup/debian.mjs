import { debianPackages } from '../debian-packages.mjs'
import { run, runWithProgress } from './run.mjs'

/**
 * Installs the missing Debian packages when root can; otherwise says once which ones and how.
 * @param {'start' | 'test'} purpose
 */
export async function ensureDebianPackages(purpose) {
  const wanted = debianPackages[purpose]
  if (!wanted) throw new Error(`Say what to set up for: ${Object.keys(debianPackages).join(' or ')}.`)
  const missing = await missingPackages(wanted)
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
  await runWithProgress(`Installing ${missing.join(', ')}`, 'apt-get', [...patience, ...install], quiet)
}

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
