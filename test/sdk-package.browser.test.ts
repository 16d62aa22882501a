import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { runCommand } from '@coinrack/host/run-command.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { chromium } from 'playwright-core'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildSdk } from '../scripts/build-sdk.ts'
import { otherNodes } from './support/nodes.ts'
import { root } from './support/sources.ts'

/*
 * The SDK as customers have it: packed, installed into an empty folder, and used there by each of the programs that run JavaScript.
 */

/** Other runtimes of JavaScript, as their makers publish them for this processor. */
const RUNTIMES = {
  x64: { bun: '@oven/bun-linux-x64-baseline@1.4.5', deno: '@deno/linux-x64-glibc@2.9.6' },
  arm64: { bun: '@oven/bun-linux-aarch64@1.4.5', deno: '@deno/linux-arm64-glibc@2.9.6' },
}[process.arch as 'x64' | 'arm64']

let service: TestService
let url: string
let folder: string
let tarball: string
const npm = (...args: string[]) =>
  runCommand('npm', [...args, '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: folder,
    timeoutMs: 240_000,
  })
const moduleOf = (name: string) => name.slice(0, name.lastIndexOf('@'))

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-customer-'))
  const built = join(folder, 'built')
  await buildSdk(built)
  const { stdout } = await npm('pack', built, '--json')
  tarball = join(folder, Object.values<{ filename: string }>(JSON.parse(stdout))[0]!.filename)
  await rm(built, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  await npm('install', tarball)
  await cp(join(root, 'test/support/customer'), folder, { recursive: true })
  service = await startTestService()
  url = await service.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})

const SEEN = {
  ...{ balance: '20.00', refused: 'unknown_product', order: 'provisioning', lines: true },
  ...{ exit_code: 0, stdout: 'one\ntwo\n', heard: 'one\ntwo\n', text: 'written' },
}

async function play(command: string, words: string[] = []): Promise<unknown> {
  const { token } = await service.customer(20_000_000n)
  const { stdout } = await runCommand(command, [...words, 'run.js', url, token], {
    cwd: folder,
    timeoutMs: 60_000,
  })
  return JSON.parse(stdout)
}

describe('the package', () => {
  test('default: it has JavaScript, declarations, licence and page, and depends on zod alone', async () => {
    const manifest = JSON.parse(
      await readFile(join(folder, 'node_modules/@coinrack/sdk/package.json'), 'utf8'),
    )
    expect(Object.keys(manifest.dependencies)).toEqual(['zod'])
    expect(manifest.private).toBeUndefined()
    const { stdout } = await runCommand('tar', ['tzf', tarball])
    const files = stdout.trim().split('\n')
    expect(files).toEqual(
      expect.arrayContaining(['package/LICENSE', 'package/README.md', 'package/index.d.ts']),
    )
    expect(files.filter((path) => /\.test\.|testing|(?<!\.d)\.ts$/.test(path))).toEqual([])
  })

  test('behavior: publint and attw have nothing to say', async () => {
    const data = await readFile(tarball)
    const { messages } = await publint({ pack: { tarball: new Uint8Array(data).buffer }, strict: true })
    expect(messages).toEqual([])
    const { problems } = (await checkPackage(createPackageFromTarballData(new Uint8Array(data)))) as {
      problems: { kind: string }[]
    }
    // A package of ES modules is found by all but what only knows CommonJS, and by require in Node.
    expect(
      problems.map(({ kind }) => kind).filter((kind) => !['CJSResolvesToESM', 'NoResolution'].includes(kind)),
    ).toEqual([])
  })

  test.each(['nodenext', 'bundler'])(
    'behavior: a program of its types compiles, resolved as %s',
    async (resolution) => {
      await writeFile(
        join(folder, 'typed.ts'),
        `import { createClient, Sandbox } from '@coinrack/sdk'
       const coinrack = createClient({ url: 'https://vps.example.net' })
       const balance: bigint = (await coinrack.getBalance()).balance
       const status: string = (await coinrack.orderVps({ product: 'nano', os_id: 1 })).status
       // @ts-expect-error there is no such operation
       coinrack.orderHouse
       // @ts-expect-error a product is a text
       await coinrack.orderVps({ product: 1, os_id: 1 })
       await using sandbox = await Sandbox.create({ url: 'https://vps.example.net' })
       export { balance, sandbox, status }`,
      )
      const compilerOptions = {
        ...{
          strict: true,
          noEmit: true,
          target: 'esnext',
          lib: ['esnext', 'dom', 'dom.iterable'],
          types: [],
        },
        ...{ module: resolution === 'bundler' ? 'esnext' : resolution, moduleResolution: resolution },
      }
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.ts'] }))
      await runCommand(join(root, 'node_modules/.bin/tsc'), ['--project', folder])
    },
  )
})

describe('programs that have it', () => {
  test.each([['our own', process.execPath], ...otherNodes()])('default: Node, %s', async (_version, node) => {
    expect(await play(node)).toEqual(SEEN)
  })

  test('behavior: Bun and Deno', async () => {
    await npm('install', '--no-save', RUNTIMES.bun, RUNTIMES.deno)
    const of = (name: string, program: string) => join(folder, 'node_modules', moduleOf(name), program)
    expect(await play(of(RUNTIMES.bun, 'bin/bun'))).toEqual(SEEN)
    expect(
      await play(of(RUNTIMES.deno, 'deno'), [
        'run',
        '--no-remote',
        '--allow-net',
        '--allow-read',
        '--allow-env',
      ]),
    ).toEqual(SEEN)
  }, 300_000)

  test('behavior: a page, without a bundler', async () => {
    const pages = await serve()
    const browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
    })
    try {
      const { token } = await service.customer(20_000_000n)
      const tab = await browser.newPage()
      await tab.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`)
      await tab.waitForFunction('window.play')
      expect(await tab.evaluate(`play(${JSON.stringify({ url, token })})`)).toEqual(SEEN)
    } finally {
      await browser.close()
      pages.close()
    }
  })
})

/** Serves the customer's folder, with a page that says where its modules are. */
async function serve(): Promise<Server> {
  const imports = {
    '@coinrack/sdk': '/node_modules/@coinrack/sdk/index.js',
    zod: '/node_modules/zod/index.js',
  }
  const server = createServer(async (request, response) => {
    const path = new URL(request.url!, 'http://localhost').pathname
    if (path === '/') {
      response.setHeader('content-type', 'text/html')
      return response.end(
        `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>
         <script type="module">import { play } from '/program.js'; window.play = play</script>`,
      )
    }
    const text = await readFile(join(folder, path)).catch(() => undefined)
    if (text === undefined) response.statusCode = 404
    response.setHeader('content-type', 'text/javascript')
    return response.end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
