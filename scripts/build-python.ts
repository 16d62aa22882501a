import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/*
 * `npm run build:python`: makes the wheel that customers install, in `packages/python/dist`, by the hatchling of Debian and without a network
 * (docs/decisions/0331-the-python-client.md).
 */

const root = join(import.meta.dirname, '..')
const source = join(root, 'packages/python')

/** The Python of the machine, which has the packages of Debian. */
export const PYTHON = '/usr/bin/python3'

/**
 * Builds the wheel.
 * @param to the folder that it is made in; what was there is removed
 * @returns its path
 */
export async function buildPython(to = join(source, 'dist')): Promise<string> {
  await rm(to, { recursive: true, force: true })
  await mkdir(to, { recursive: true })
  const staged = await mkdtemp(join(tmpdir(), 'coinrack-python-'))
  try {
    for (const name of ['pyproject.toml', 'README.md', 'src'])
      await cp(join(source, name), join(staged, name), {
        recursive: true,
        filter: (path) => !/__pycache__|\.mypy_cache/.test(path),
      })
    await cp(join(root, 'LICENSE'), join(staged, 'LICENSE'))
    await promisify(execFile)(PYTHON, ['-m', 'hatchling', 'build', '--target', 'wheel', '--directory', to], {
      cwd: staged,
    })
  } finally {
    await rm(staged, { recursive: true, force: true })
  }
  return join(to, (await readdir(to)).find((name) => name.endsWith('.whl'))!)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPython()
