import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { root } from './build-package.ts'

/*
 * `npm run build:action`: makes `packages/github-action/dist`, what the runner of GitHub starts. A runner installs nothing, so each
 * program is one file with all that it uses.
 */

const source = join(root, 'packages/github-action')

/** @param to the folder that it is made in; what was there is removed */
export async function buildAction(to = join(source, 'dist')): Promise<void> {
  await rm(to, { recursive: true, force: true })
  for (const name of ['main', 'post']) {
    const bundle = await rolldown({ input: join(source, `src/${name}.ts`), platform: 'node' })
    await bundle.write({ file: join(to, `${name}.js`), format: 'esm', codeSplitting: false })
    await bundle.close()
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildAction()
