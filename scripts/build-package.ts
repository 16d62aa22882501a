import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** The language of packages: what Node 20 and browsers of 2023 run as it is. */
const COMPILER_OPTIONS = {
  ...{ target: 'es2022', lib: ['es2024', 'esnext.array', 'esnext.disposable', 'dom', 'dom.iterable'] },
  ...{ module: 'nodenext', moduleResolution: 'nodenext', skipLibCheck: true, stripInternal: true },
  ...{ strict: true, noUncheckedIndexedAccess: true, erasableSyntaxOnly: true, verbatimModuleSyntax: true },
}

/**
 * Writes the sources of one of our packages as JavaScript, module by module, with those of the others of ours that it uses in folders
 * inside, so that it depends on none of them.
 * @param to the folder that it is made in; what was there is removed
 * @param options.with the names of those others
 * @param options.beside the others that it goes on depending on, each with what builds it as customers have it
 * @param options.entry the module from which all others are reached
 */
export async function buildPackage(
  to: string,
  options: {
    name: string
    with: string[]
    beside?: Record<string, (to: string) => Promise<void>>
    entry: string
    compilerOptions: object
  },
): Promise<void> {
  await rm(to, { recursive: true, force: true })
  await mkdir(to, { recursive: true })
  const staged = await mkdtemp(join(tmpdir(), 'coinrack-build-'))
  const src = join(staged, 'src')
  try {
    await stage(options.name, src, src, options.with)
    for (const name of options.with) await stage(name, join(src, name), src, options.with)
    // What this package depends on at another version than the rest comes first.
    const own = join(root, 'packages', options.name, 'node_modules')
    await symlink(join(root, 'node_modules'), join(staged, 'node_modules'))
    const beside = Object.entries(options.beside ?? {})
    if (beside.length === 0) await symlink(own, join(src, 'node_modules')).catch(() => {})
    for (const [name, build] of beside) await build(join(src, 'node_modules/@coinrack', name))
    await writeFile(join(staged, 'package.json'), '{"type":"module"}')
    const compilerOptions = { ...COMPILER_OPTIONS, ...options.compilerOptions, rootDir: 'src', outDir: to }
    await writeFile(
      join(staged, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: [`src/${options.entry}`] }),
    )
    await promisify(execFile)('tsc', ['--project', staged])
  } finally {
    await rm(staged, { recursive: true, force: true })
  }
  await cp(join(root, 'LICENSE'), join(to, 'LICENSE'))
}

/** Copies the sources of a package, with imports as they are once all that are inside are in one folder. */
async function stage(name: string, to: string, whole: string, inside: string[]): Promise<void> {
  const from = join(root, 'packages', name, 'src')
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || !/\.ts$/.test(path) || /(\.test|^testing|\/testing)\.ts$/.test(path)) continue
    const target = join(to, relative(from, path))
    const up = relative(dirname(target), whole) || '.'
    const text = (await readFile(path, 'utf8'))
      .replace(/(from\s*['"]@coinrack\/[\w-]+)\/index\.ts(['"])/g, (text, start, end) =>
        inside.some((each) => text.includes(`@coinrack/${each}/`)) ? text : `${start}${end}`,
      )
      .replace(/(from|import\()(\s*['"])@coinrack\/([\w-]+)\//g, `$1$2${up}/$3/`)
      .replace(/((?:from|import\()\s*['"]\.[^'"]+)\.ts(['"])/g, '$1.js$2')
      .replace(`new URL('../package.json'`, `new URL('./package.json'`)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, text)
  }
}
