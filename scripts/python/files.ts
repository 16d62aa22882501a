import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pythonMethods, pythonTable } from './operations.ts'
import { syncOfAsync } from './sync-of-async.ts'
import { pythonTypes } from './types.ts'

const PACKAGE = 'packages/python/src/coinrack'
const TESTS = 'packages/python/tests'
const root = join(import.meta.dirname, '../..')
/** What the two kinds of code do differently: written twice. */
const WRITTEN_TWICE = ['edge.py']

/** The generated files of the Python package, by their paths from the root. */
export async function pythonFiles(): Promise<Record<string, () => string | Promise<string>>> {
  const names = (await readdir(join(root, PACKAGE, '_async'))).filter(
    (name) => name.endsWith('.py') && !WRITTEN_TWICE.includes(name),
  )
  const tests = (await readdir(join(root, TESTS))).filter((name) => name.endsWith('_async.py'))
  const written = [
    ...names.map((name) => ({ from: `${PACKAGE}/_async/${name}`, to: `${PACKAGE}/_sync/${name}` })),
    ...tests.map((name) => ({ from: `${TESTS}/${name}`, to: `${TESTS}/${name.replace('_async', '_sync')}` })),
  ]
  return {
    [`${PACKAGE}/generated/types.py`]: () => pythonTypes().text,
    [`${PACKAGE}/generated/operations.py`]: () => pythonTable(pythonTypes()),
    [`${PACKAGE}/generated/async_client.py`]: () => pythonMethods(pythonTypes()),
    [`${PACKAGE}/generated/sync_client.py`]: () => syncOfAsync(pythonMethods(pythonTypes())),
    ...Object.fromEntries(
      written.map(({ from, to }) => [
        to,
        async () => `${MADE}${syncOfAsync(await readFile(join(root, from), 'utf8'))}`,
      ]),
    ),
  }
}

const MADE = '# Made by `npm run generate` from the module that awaits.\n'
