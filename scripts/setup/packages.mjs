import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run, runWithProgress } from './run.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const lockfile = join(root, 'package-lock.json')
const setup = join(root, 'scripts', 'setup.mjs')

/**
 * Installs the npm packages of the lockfile when those in node_modules are others.
 * @param {boolean} alone true when this process holds the lock under which packages are installed
 */
export async function ensurePackages(alone) {
  if (packagesMatch()) return
  if (!alone)
    return runWithProgress('Installing packages (npm ci)', 'flock', [
      lockfile,
      process.execPath,
      setup,
      'packages',
    ])

  const npm = process.env.npm_execpath
  const [command, first] = npm?.endsWith('.js')
    ? [process.env.npm_node_execpath ?? process.execPath, [npm]]
    : ['npm', []]
  await run(command, [...first, 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    // The Node in node_modules is about to be replaced.
    PATH: process.env.PATH.split(delimiter)
      .filter((folder) => !folder.startsWith(join(root, 'node_modules')))
      .join(delimiter),
  })
}

/** npm notes in node_modules what it installed; it writes the note last. */
function packagesMatch() {
  const note = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(note) || !existsSync(join(root, 'node_modules', '.bin', 'node'))) return false
  const { '': _, ...wanted } = JSON.parse(readFileSync(lockfile, 'utf8')).packages
  const installed = JSON.parse(readFileSync(note, 'utf8')).packages
  const isSame = (one, other) => one?.version === other?.version && one?.integrity === other?.integrity
  return (
    Object.entries(wanted).every(
      ([path, entry]) => isSame(entry, installed[path]) || (entry.optional && !installed[path]),
    ) && Object.keys(installed).every((path) => path in wanted)
  )
}
