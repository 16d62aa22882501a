import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/*
 * `npm run build:sdk`: makes the packages that customers install, in `packages/sdk/dist` and `packages/mock/dist`. Each is JavaScript with
 * declarations, module by module, and has the contract inside (docs/decisions/0330-the-sdk-as-a-package.md).
 */

const root = join(import.meta.dirname, '..')
const run = promisify(execFile)

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

/** The language of the package: what Node 20 and browsers of 2023 run as it is. */
const COMPILER_OPTIONS = {
  ...{ target: 'es2022', lib: ['es2024', 'esnext.array', 'esnext.disposable', 'dom', 'dom.iterable'] },
  ...{ module: 'nodenext', moduleResolution: 'nodenext', types: [], skipLibCheck: true },
  ...{ strict: true, noUncheckedIndexedAccess: true, erasableSyntaxOnly: true, verbatimModuleSyntax: true },
  ...{ declaration: true, stripInternal: true },
}

/**
 * Builds the package of the SDK.
 * @param to the folder that it is made in; what was there is removed
 */
export const buildSdk = (to = join(root, 'packages/sdk/dist')): Promise<void> => build('sdk', to)

/** Builds the package of the mock, which is compiled beside that of the SDK as customers have it. */
export const buildMock = (to = join(root, 'packages/mock/dist')): Promise<void> =>
  build('mock', to, (modules) => buildSdk(join(modules, '@coinrack/sdk')))

async function build(name: Name, to: string, prepare = async (_modules: string) => {}): Promise<void> {
  const source = join(root, 'packages', name)
  await rm(to, { recursive: true, force: true })
  await mkdir(to, { recursive: true })
  const staged = await mkdtemp(join(tmpdir(), 'coinrack-package-'))
  try {
    await stage(join(source, 'src'), join(staged, 'src'), './contract')
    await stage(join(root, 'packages/contract/src'), join(staged, 'src/contract'), '.')
    const modules = join(staged, 'node_modules')
    await mkdir(modules)
    await symlink(join(root, 'node_modules/zod'), join(modules, 'zod'))
    await prepare(modules)
    await writeFile(join(staged, 'package.json'), '{"type":"module"}')
    const compilerOptions = { ...COMPILER_OPTIONS, rootDir: 'src', outDir: to }
    const files = ['src/index.ts']
    await writeFile(join(staged, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    await run(join(root, 'node_modules/.bin/tsc'), ['--project', staged])
  } finally {
    await rm(staged, { recursive: true, force: true })
  }
  await writeFile(join(to, 'package.json'), `${JSON.stringify(await manifest(name), null, 2)}\n`)
  await cp(join(source, 'README.md'), join(to, 'README.md'))
  await cp(join(root, 'LICENSE'), join(to, 'LICENSE'))
}

/** Copies the sources of a package, with imports as they are once the contract is in it. */
async function stage(from: string, to: string, contract: string): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const name of await readdir(from)) {
    if (!name.endsWith('.ts') || name.endsWith('.test.ts') || name === 'testing.ts') continue
    const text = (await readFile(join(from, name), 'utf8'))
      .replace(/(from|import\()(\s*['"])@coinrack\/contract\//g, `$1$2${contract}/`)
      .replace(/(from\s*['"]@coinrack\/sdk)\/index\.ts(['"])/g, '$1$2')
      .replace(/((?:from|import\()\s*['"]\.[^'"]+)\.ts(['"])/g, '$1.js$2')
    await writeFile(join(to, name), text)
  }
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
