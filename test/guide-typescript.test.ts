import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildMock, buildSdk } from '../scripts/build-sdk.ts'
import { readGuide, startGuideService } from './support/guide-service.ts'
import { root } from './support/sources.ts'

/*
 * The guide for TypeScript, followed from an empty folder with nothing else: the packages are packed and installed there, and what it says is
 * printed.
 */

let folder: string
let service: Awaited<ReturnType<typeof startGuideService>>
const tarballs = {} as Record<'sdk' | 'mock', string>
const npm = (...args: string[]) =>
  runCommand('npm', [...args, '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: folder,
    timeoutMs: 240_000,
  })

async function pack(name: 'sdk' | 'mock', build: (to: string) => Promise<void>) {
  const built = join(folder, name)
  await build(built)
  const { stdout } = await npm('pack', built, '--json')
  const [{ filename }] = Object.values<{ filename: string }>(JSON.parse(stdout)) as [{ filename: string }]
  tarballs[name] = join(folder, filename)
  await rm(built, { recursive: true })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-guide-typescript-'))
  await pack('sdk', buildSdk)
  await pack('mock', buildMock)
  await writeFile(join(folder, 'package.json'), '{"private":true}')
  await npm('install', tarballs.sdk, tarballs.mock)
  // The version of this repository, which is no matter of the registry's.
  await symlink(join(root, 'node_modules/viem'), join(folder, 'node_modules/viem'))
  service = await startGuideService()
})
afterAll(async () => {
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})

async function run(name: string, program: string): Promise<string[]> {
  await writeFile(join(folder, name), program)
  const { stdout } = await runCommand(process.execPath, ['--disable-warning=ExperimentalWarning', name], {
    cwd: folder,
    timeoutMs: 120_000,
  })
  return stdout.trim().split('\n')
}

test('default: its blocks print what it shows', async () => {
  const { program, printed, blocks } = readGuide('docs/guide-typescript.md', 'ts', '//')
  expect(blocks).toBeGreaterThanOrEqual(7)
  expect(await run('guide.mts', service.playable(program, 'typescript-guide@my-domain.net'))).toEqual(printed)
}, 120_000)

test('behavior: its blocks are of the types of the packages', async () => {
  const compilerOptions = {
    ...{ strict: true, noEmit: true, target: 'esnext', lib: ['esnext', 'dom', 'dom.iterable'] },
    ...{ module: 'nodenext', noUncheckedIndexedAccess: true, skipLibCheck: true },
    ...{ types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
  }
  const { program } = readGuide('docs/guide-typescript.md', 'ts', '//')
  await writeFile(join(folder, 'typed.mts'), program)
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.mts'] }))
  await runCommand(join(root, 'node_modules/.bin/tsc'), ['--project', folder])
})

describe('the package of the mock', () => {
  test('default: it depends on the SDK and zod alone, and publint has nothing to say', async () => {
    const installed = await readFile(join(folder, 'node_modules/@coinrack/mock/package.json'), 'utf8')
    expect(Object.keys(JSON.parse(installed).dependencies)).toEqual(['@coinrack/sdk', 'zod'])
    const tarball = new Uint8Array(await readFile(tarballs.mock)).buffer
    expect((await publint({ pack: { tarball }, strict: true })).messages).toEqual([])
  })

  test('default: the first example of its page runs', async () => {
    const [, example] = /^```ts\n([\s\S]*?)^```$/m.exec(
      await readFile(join(root, 'packages/mock/README.md'), 'utf8'),
    )!
    expect(await run('example.mts', example!)).toEqual(['ok 1', 'ok 2', '', '[ 429, 200 ]'])
  })
})
