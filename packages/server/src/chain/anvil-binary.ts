import { chmod, copyFile, mkdir, rename, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const packages: Record<string, string> = {
  x64: '@foundry-rs/anvil-linux-amd64',
  arm64: '@foundry-rs/anvil-linux-arm64',
}

/**
 * The path of the anvil program.
 * With `cacheFolder` it is a copy in that folder: another user cannot reach a clone under a private home folder.
 */
export async function anvilBinary(cacheFolder?: string): Promise<string> {
  const name = packages[process.arch]
  if (!name)
    throw new Error(`No chain node for ${process.arch}; the demo runs on ${Object.keys(packages).join(', ')}`)
  const require = createRequire(import.meta.url)
  const original = require.resolve(`${name}/bin/anvil`)
  if (!cacheFolder) return original

  const { version } = require(`${name}/package.json`)
  const copy = join(cacheFolder, 'bin', `anvil-${version}`)
  if (await stat(copy).catch(() => undefined)) return copy
  await mkdir(join(cacheFolder, 'bin'), { recursive: true })
  const unfinished = `${copy}.${process.pid}`
  await copyFile(original, unfinished)
  await chmod(unfinished, 0o755)
  await rename(unfinished, copy)
  return copy
}
