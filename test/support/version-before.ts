import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'

/** The commit that a rolling upgrade to the present one begins at. A release moves it to the one before. */
const COMMIT = '2dfe293d056a8424393ee7330e692d688541adc3'
const root = join(import.meta.dirname, '../..')
const git = (...args: string[]) => runCommand('git', ['-C', root, ...args], { timeoutMs: 120_000 })

export interface VersionBefore {
  /** Its `test/support/replica.ts`. */
  program: string
  /** The names of its migrations. */
  migrations: string[]
  remove(): Promise<void>
}

/**
 * The version before, out of the history of this repository, with the packages that are installed here.
 * @throws Error when the history does not have it and it cannot be fetched
 */
export async function versionBefore(): Promise<VersionBefore> {
  const isThere = () => git('cat-file', '-e', `${COMMIT}^{commit}`)
  await isThere().catch(() => git('fetch', '--depth=1', 'origin', COMMIT))
  const folder = await mkdtemp('/tmp/coinrack-before-')
  const archive = join(folder, 'before.tar')
  await git('archive', `--output=${archive}`, COMMIT)
  await runCommand('tar', ['--extract', '--file', archive, '--directory', folder])
  const modules = join(folder, 'node_modules')
  await mkdir(join(modules, '@coinrack'), { recursive: true })
  for (const name of await readdir(join(root, 'node_modules')))
    if (name !== '@coinrack') await symlink(join(root, 'node_modules', name), join(modules, name))
  for (const name of await readdir(join(folder, 'packages')))
    await symlink(join(folder, 'packages', name), join(modules, '@coinrack', name))
  const migrations = await readdir(join(folder, 'packages/server/src/database/migrations'))
  return {
    program: join(folder, 'test/support/replica.ts'),
    migrations: migrations.filter((name) => name.endsWith('.sql')),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
