import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPackage, root } from './build-package.ts'

/*
 * `npm run build:sdk`: makes the packages that customers install, in `packages/sdk/dist` and `packages/mock/dist`. Each is JavaScript with
 * declarations, module by module, and has the contract inside (docs/decisions/0330-the-sdk-as-a-package.md).
 */

/** What the package.json of each says beside what that of its sources does. */
const PUBLISHED = {
  sdk: {
    description: 'Typed client of Coinrack: VPS and code sandboxes, prepaid in stablecoins',
    keywords: ['vps', 'sandbox', 'code-interpreter', 'agents', 'stablecoin', 'x402'],
  },
  mock: {
    description: 'A Coinrack service in memory, for tests of programs that use @coinrack/sdk',
    keywords: ['coinrack', 'mock', 'testing', 'sandbox', 'vps'],
  },
}
type Name = keyof typeof PUBLISHED

/**
 * Builds the package of the SDK.
 * @param to the folder that it is made in; what was there is removed
 */
export const buildSdk = (to = join(root, 'packages/sdk/dist')): Promise<void> => build('sdk', to)

/** Builds the package of the mock, which is compiled beside that of the SDK as customers have it. */
export const buildMock = (to = join(root, 'packages/mock/dist')): Promise<void> =>
  build('mock', to, { sdk: buildSdk })

async function build(
  name: Name,
  to: string,
  beside: Record<string, (to: string) => Promise<void>> = {},
): Promise<void> {
  const compilerOptions = { types: [], declaration: true }
  await buildPackage(to, { name, with: ['contract'], beside, entry: 'index.ts', compilerOptions })
  await writeFile(join(to, 'package.json'), `${JSON.stringify(await manifest(name), null, 2)}\n`)
  await cp(join(root, 'packages', name, 'README.md'), join(to, 'README.md'))
}

/** The package.json of a package, from the one that its sources have. */
async function manifest(of: Name): Promise<Record<string, unknown>> {
  const { name, version, license, dependencies } = JSON.parse(
    await readFile(join(root, 'packages', of, 'package.json'), 'utf8'),
  ) as { name: string; version: string; license: string; dependencies: Record<string, string> }
  const { '@coinrack/contract': _inside, ...others } = dependencies
  return {
    ...{ name, version, license, type: 'module', sideEffects: false },
    ...PUBLISHED[of],
    engines: { node: '>=20' },
    exports: { '.': { types: './index.d.ts', default: './index.js' }, './package.json': './package.json' },
    dependencies: others,
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildSdk()
  await buildMock()
}
