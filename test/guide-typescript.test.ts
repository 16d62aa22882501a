import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunCommandOptions, runCommand } from '@coinrack/host/run-command.ts'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildMock, buildSdk } from '../scripts/build-sdk.ts'
import { readGuide, startGuideService } from './support/guide-service.ts'
import { newSshKey } from './support/new-ssh-key.ts'
import { root } from './support/sources.ts'

/*
 * The guide for TypeScript, followed from an empty folder with nothing else: the packages are packed and installed there, and what it says is
 * printed. The pages of the packages are programs too, from their first block to their last.
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

async function run(name: string, program: string, more: Partial<RunCommandOptions> = {}): Promise<string[]> {
  await writeFile(join(folder, name), program)
  const { stdout } = await runCommand(process.execPath, ['--disable-warning=ExperimentalWarning', name], {
    cwd: folder,
    timeoutMs: 120_000,
    ...more,
  })
  return stdout.trim().split('\n')
}

test('default: its blocks print what it shows', async () => {
  const { program, printed, blocks } = readGuide('docs/guide-typescript.md', 'ts', '//')
  expect(blocks).toBeGreaterThanOrEqual(7)
  expect(await run('guide.mts', service.playable(program, 'typescript-guide@my-domain.net'))).toEqual(printed)
}, 120_000)

test('default: the page of the SDK is a program, whose reader pays where it says so', async () => {
  const { program, blocks } = readGuide('packages/sdk/README.md', 'ts', '//')
  expect(blocks).toBeGreaterThanOrEqual(7)
  const demo = await (await fetch(`${service.origin}/demo`)).json()
  const { rpc_url } = demo.chains.find((chain: { chain_id: number }) => chain.chain_id === 8453)
  const pay = `await fetch(checkout_url + '/demo-pay', {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams({ network: 'base', token: 'USDC' }),
  })`
  const played = service
    .playable(program, 'page-of-the-sdk@my-domain.net')
    .replace(/^\/\/ Pay one of .*$/m, pay)
    .replace('ssh-ed25519 AAAA...', newSshKey())
    .replace('http()', `http('${rpc_url}')`)
  const env = { WALLET_KEY: demo.faucet_key }
  const printed = (await run('sdk.mts', played, { env, input: 'print(6 * 70)\nexit()\n' })).join('\n')
  expect(printed).toMatch(/^ssh .* 7\.00\n/)
  expect(printed).toMatch(/^0x[0-9a-f]{64} paid\nbuilding\n42\nchanged: one\.csv\n1\n/m)
  expect(printed).toMatch(/^420/m)
}, 120_000)

test.each(['docs/guide-typescript.md', 'packages/sdk/README.md', 'packages/mock/README.md'])(
  'behavior: the blocks of %s are of the types of the packages',
  async (path) => {
    const compilerOptions = {
      ...{ strict: true, noEmit: true, target: 'esnext', lib: ['esnext', 'dom', 'dom.iterable'] },
      ...{ module: 'nodenext', noUncheckedIndexedAccess: true, skipLibCheck: true },
      ...{ types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
    }
    const { program } = readGuide(path, 'ts', '//')
    await writeFile(join(folder, 'typed.mts'), program)
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.mts'] }))
    await runCommand(join(root, 'node_modules/.bin/tsc'), ['--project', folder])
  },
)

describe('the package of the mock', () => {
  test('default: it depends on the SDK and zod alone, and publint has nothing to say', async () => {
    const installed = await readFile(join(folder, 'node_modules/@coinrack/mock/package.json'), 'utf8')
    expect(Object.keys(JSON.parse(installed).dependencies)).toEqual(['@coinrack/sdk', 'zod'])
    const tarball = new Uint8Array(await readFile(tarballs.mock)).buffer
    expect((await publint({ pack: { tarball }, strict: true })).messages).toEqual([])
  })

  test('default: the examples of its page run', async () => {
    const { program, blocks } = readGuide('packages/mock/README.md', 'ts', '//')
    expect(blocks).toBe(3)
    expect(await run('example.mts', program)).toEqual([
      'ok 1',
      'ok 2',
      '',
      '[ 429, 200 ]',
      'created report.html',
    ])
  })
})
