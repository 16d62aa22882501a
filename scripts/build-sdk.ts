import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/*
 * `npm run build:sdk`: makes the package that customers install, in `packages/sdk/dist`. It is JavaScript with declarations, module by
 * module, and has the contract inside, so that it depends on nothing but zod (docs/decisions/0330-the-sdk-as-a-package.md).
 */

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const source = join(root, 'packages/sdk')

/** The language of the package: what Node 20 and browsers of 2023 run as it is. */
const COMPILER_OPTIONS = {
  ...{ target: 'es2022', lib: ['es2024', 'esnext.array', 'esnext.disposable', 'dom', 'dom.iterable'] },
  ...{ module: 'nodenext', moduleResolution: 'nodenext', types: [], skipLibCheck: true },
  ...{ strict: true, noUncheckedIndexedAccess: true, erasableSyntaxOnly: true, verbatimModuleSyntax: true },
  ...{ declaration: true, stripInternal: true },
}

/**
 * Builds the package.
 * @param to the folder that it is made in; what was there is removed
 */
export async function buildSdk(to = join(source, 'dist')): Promise<void> {
  await rm(to, { recursive: true, force: true })
  await mkdir(to, { recursive: true })
  const staged = await mkdtemp(join(tmpdir(), 'coinrack-sdk-'))
  try {
    await stage(join(source, 'src'), join(staged, 'src'), './contract')
    await stage(join(root, 'packages/contract/src'), join(staged, 'src/contract'), '.')
    await symlink(join(root, 'node_modules'), join(staged, 'node_modules'))
    await writeFile(join(staged, 'package.json'), '{"type":"module"}')
    const compilerOptions = { ...COMPILER_OPTIONS, rootDir: 'src', outDir: to }
    const files = ['src/index.ts']
    await writeFile(join(staged, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    await promisify(execFile)('tsc', ['--project', staged])
  } finally {
    await rm(staged, { recursive: true, force: true })
  }
  await writeFile(join(to, 'package.json'), `${JSON.stringify(await manifest(), null, 2)}\n`)
  await cp(join(source, 'README.md'), join(to, 'README.md'))
  await cp(join(root, 'LICENSE'), join(to, 'LICENSE'))
}

/** Copies the sources of a package, with imports as they are once both packages are one. */
async function stage(from: string, to: string, contract: string): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const name of await readdir(from)) {
    if (!name.endsWith('.ts') || name.endsWith('.test.ts') || name === 'testing.ts') continue
    const text = (await readFile(join(from, name), 'utf8'))
      .replace(/(from|import\()(\s*['"])@coinrack\/contract\//g, `$1$2${contract}/`)
      .replace(/((?:from|import\()\s*['"]\.[^'"]+)\.ts(['"])/g, '$1.js$2')
    await writeFile(join(to, name), text)
  }
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
