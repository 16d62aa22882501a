/*
 * Makes a fresh clone ready: `node scripts/setup.mjs start`, `test`, `bench`, `tools` or `python`.
 *
 * It runs on the Node that the machine came with, before anything is installed: plain JavaScript, no dependency.
 * Run again, it finds everything in place within a tenth of a second and says nothing.
 */
import { ensureDebianPackages } from './setup/debian.mjs'
import { ensurePackages } from './setup/packages.mjs'
import { ensureServiceUser } from './setup/service-user.mjs'

const purpose = process.argv[2]

try {
  if (process.platform !== 'linux')
    throw new Error(`Coinrack runs on Linux, and this is ${process.platform}.`)
  if (purpose !== 'packages') {
    await ensureDebianPackages(purpose)
    if (purpose !== 'tools' && purpose !== 'python') await ensureServiceUser()
  }
  await ensurePackages(purpose === 'packages')
} catch (error) {
  console.error(`\nSet-up stopped. ${error.message}\n`)
  process.exitCode = 1
}
