import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPackage, root } from './build-package.ts'

/*
 * `npm run build:sdk`: makes the package that customers install, in `packages/sdk/dist`. It is JavaScript with declarations, module by
 * module, and has the contract inside, so that it depends on nothing but zod (docs/decisions/0330-the-sdk-as-a-package.md).
 */

const source = join(root, 'packages/sdk')

/**
 * Builds the package.
 * @param to the folder that it is made in; what was there is removed
 */
export async function buildSdk(to = join(source, 'dist')): Promise<void> {
  await buildPackage(to, {
    name: 'sdk',
    with: ['contract'],
    entry: 'index.ts',
    compilerOptions: { types: [], declaration: true },
  })
  await writeFile(join(to, 'package.json'), `${JSON.stringify(await manifest(), null, 2)}\n`)
  await cp(join(source, 'README.md'), join(to, 'README.md'))
}

/** The package.json of the package, from the one that the sources have. */
async function manifest(): Promise<Record<string, unknown>> {
  const { name, version, license, dependencies } = JSON.parse(
    await readFile(join(source, 'package.json'), 'utf8'),
  ) as { name: string; version: string; license: string; dependencies: Record<string, string> }
  const { zod } = dependencies
  return {
    ...{ name, version, license, type: 'module', sideEffects: false },
    description: 'Typed client of Coinrack: VPS and code sandboxes, prepaid in stablecoins',
    keywords: ['vps', 'sandbox', 'code-interpreter', 'agents', 'stablecoin', 'x402'],
    engines: { node: '>=20' },
    exports: { '.': { types: './index.d.ts', default: './index.js' }, './package.json': './package.json' },
    dependencies: { zod },
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildSdk()
