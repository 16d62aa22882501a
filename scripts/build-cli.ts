import { chmod, cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPackage, root } from './build-package.ts'

/*
 * `npm run build:cli`: makes the command line that customers install, in `packages/cli/dist`: JavaScript, with SDK and contract inside
 * (docs/decisions/0361-the-command-line-as-a-package.md).
 */

const source = join(root, 'packages/cli')

/** What the demo uses, which is no part of the package. */
const OF_THE_DEMO = ['@modelcontextprotocol/client', 'viem']

/**
 * Builds the package.
 * @param to the folder that it is made in; what was there is removed
 */
export async function buildCli(to = join(source, 'dist')): Promise<void> {
  await buildPackage(to, {
    name: 'cli',
    with: ['sdk', 'contract'],
    entry: 'coinrack.ts',
    compilerOptions: { types: ['node'] },
  })
  await chmod(join(to, 'coinrack.js'), 0o755)
  await writeFile(join(to, 'package.json'), `${JSON.stringify(await manifest(), null, 2)}\n`)
  await cp(join(source, 'README.md'), join(to, 'README.md'))
}

/** The package.json of the package, from the one that the sources have. */
async function manifest(): Promise<Record<string, unknown>> {
  const { name, version, license, dependencies } = JSON.parse(
    await readFile(join(source, 'package.json'), 'utf8'),
  ) as { name: string; version: string; license: string; dependencies: Record<string, string> }
  const theirs = Object.entries(dependencies).filter(
    ([each]) => !each.startsWith('@coinrack/') && !OF_THE_DEMO.includes(each),
  )
  return {
    ...{ name, version, license, type: 'module' },
    description: 'Command line of Coinrack: VPS and code sandboxes, prepaid in stablecoins',
    keywords: ['vps', 'sandbox', 'cli', 'ssh', 'stablecoin'],
    engines: { node: '>=20.3' },
    bin: { coinrack: 'coinrack.js' },
    exports: { './package.json': './package.json' },
    dependencies: Object.fromEntries(theirs),
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildCli()
