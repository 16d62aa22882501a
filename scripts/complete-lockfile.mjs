/*
 * Adds to package-lock.json the optional packages for other platforms that the registry in use does not carry.
 *
 * npm leaves a package that it cannot find out of the lockfile, and then `npm ci` refuses the lockfile because the
 * package is missing from it. Their exact versions stand with the package that wants them, so they can be written down;
 * none of them is ever installed on a platform that it is not for. Run it after `npm install` changed the lockfile.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const file = fileURLToPath(new URL('../package-lock.json', import.meta.url))
const systems = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32']
const processors = ['arm', 'arm64', 'ia32', 'ppc64', 'riscv64', 's390x', 'x64']

const lock = JSON.parse(readFileSync(file, 'utf8'))
// A package that comes within another one has all that it needs beside it.
const own = Object.values(lock.packages).filter((entry) => !entry.inBundle)
const missing = own.flatMap((entry) =>
  Object.entries(entry.optionalDependencies ?? {}).filter(([name]) => !lock.packages[`node_modules/${name}`]),
)
for (const [name, version] of missing) {
  const words = name.replace('amd64', 'x64').split(/[/-]/)
  const os = systems.find((system) => words.includes(system))
  const cpu = processors.find((processor) => words.includes(processor))
  if (!os || !cpu || !/^\d+\.\d+\.\d+/.test(version)) {
    throw new Error(`${name}@${version} is missing, and its platform or version cannot be told`)
  }
  lock.packages[`node_modules/${name}`] = { version, cpu: [cpu], optional: true, os: [os] }
}
const { '': top, ...rest } = lock.packages
const sorted = Object.entries(rest).sort(([one], [other]) => one.localeCompare(other, 'en'))
lock.packages = { '': top, ...Object.fromEntries(sorted) }
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
console.log(missing.map(([name]) => name).join('\n') || 'Nothing is missing')
