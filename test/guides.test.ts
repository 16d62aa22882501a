import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { freePort } from '@coinrack/host/free-port.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import type { DemoChains } from '@coinrack/server/chain/demo-chains.ts'
import { startTestChains } from '@coinrack/server/chain/testing.ts'
import { viemChain } from '@coinrack/server/chain/viem-chain.ts'
import { runPayments } from '@coinrack/server/payments/run-payments.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { repositoryFiles, root } from './support/sources.ts'

/*
 * The shell lines of the documents, in their order, as they stand there: against a running service with real chains,
 * whose machines are fakes, so that `ssh` is a program that only notes what it was called with.
 */

const ORIGIN = 'http://127.0.0.1:8080'
const documents = repositoryFiles().filter(
  ({ path }) => path.endsWith('.md') && !path.startsWith('docs/decisions/'),
)
const blocksOf = (path: string, language = 'sh') =>
  [
    ...documents
      .find((document) => document.path === path)!
      .text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm')),
  ].map(([, code]) => code!)

/**
 * Blocks that begin so are for the host of a service: their commands are looked at below, test/lifecycle.test.ts runs psql, and
 * test/operate-a-cluster.cluster.test.ts what concerns a cluster. Those of openssl make the key of the registry.
 */
const OTHER = [
  /^npm /,
  /^apt-get install --yes postgresql-client/,
  /^incus cluster (add|remove) /,
  /^(key=\$\()?openssl /,
]
/** The last two by tests of their own: test/real-networks.test.ts in production, test/guide-e2b.test.ts. */
const PLAYED = ['README.md', 'docs/guide-buyer.md', 'docs/guide-real-networks.md', 'docs/guide-e2b.md']
const isOther = (block: string) => OTHER.some((pattern) => pattern.test(block))

describe('shell lines', () => {
  let demo: DemoChains
  let service: TestService
  let endPayments: () => Promise<void>
  let origin: string
  let folder: string
  let reconciling: Promise<void>
  const end = new AbortController()

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'coinrack-guides-'))
    demo = await startTestChains()
    const chains = demo.chains.map((settings) => ({ settings, port: viemChain(settings) }))
    const port = await freePort()
    origin = `http://127.0.0.1:${port}`
    service = await startTestService({ chains, demo: demo.demo, env: { COINRACK_PUBLIC_URL: origin } })
    await service.app.listen({ host: '127.0.0.1', port })
    endPayments = runPayments(service.services)
    reconciling = (async () => {
      while (!end.signal.aborted) {
        await service.reconcile()
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    })()
    await writeFile(join(folder, 'ssh'), `#!/bin/sh\necho "$@" > ${folder}/ssh-arguments\necho Linux\n`, {
      mode: 0o755,
    })
  })
  afterAll(async () => {
    end.abort()
    await reconciling
    await endPayments?.()
    await service?.close()
    await demo?.stop()
    await rm(folder, { recursive: true })
  })

  /** Runs a document from its first block to its last in one shell, in which a variable that is not set is an error. */
  async function play(path: string, email: string) {
    const script = blocksOf(path)
      .filter((block) => !isOther(block))
      .join('\n')
      .replaceAll(ORIGIN, origin)
      .replaceAll('me@example.com', email)
    expect(script).toContain(origin)
    const shell = spawn('bash', ['-euo', 'pipefail'], {
      env: { PATH: `${folder}${delimiter}${process.env.PATH}`, HOME: folder },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const output: string[] = []
    for (const stream of [shell.stdout, shell.stderr])
      stream.setEncoding('utf8').on('data', (text) => output.push(text))
    shell.stdin.end(script)
    const code = await new Promise((resolve) => shell.once('close', resolve))
    return { code, output: output.join('') }
  }

  test('default: the README registers', async () => {
    const { code, output } = await play('README.md', 'reader@my-domain.net')
    expect(output).toContain('"token":"crk_')
    expect(code).toBe(0)
  })

  test('default: the guide for buyers goes from nothing to a shell, paid by the demo', async () => {
    const { code, output } = await play('docs/guide-buyer.md', 'buyer@my-domain.net')
    expect(output).toMatch(/^0x[0-9a-f]{64}$[\s\S]*^paid$[\s\S]*"ssh_ready": true[\s\S]*^Linux$[\s\S]*^304$/m)
    expect(output).toContain('event: vps.ssh_ready')
    expect(code).toBe(0)
    expect(await readFile(join(folder, 'ssh-arguments'), 'utf8')).toMatch(/root@127\.0\.0\.1/)
    expect(await readFile(join(folder, '.ssh/known_hosts'), 'utf8')).toContain('ssh-ed25519')
  }, 120_000)

  test('behavior: the key of the registry is made, and read, as the guide says', async () => {
    const [make, publish] = blocksOf('docs/operator/being-found.md')
    const [read] = publish!.split('\n')
    const { stdout } = await runCommand('bash', ['-c', `${make}\n${read}\necho "$key"`], { cwd: folder })
    expect(stdout).toMatch(/^v=MCPv1; k=ed25519; p=[A-Za-z0-9+/]{43}=\n[0-9a-f]{64}\n$/)
  })

  test('behavior: every other document has no shell lines but those that are no part of this', () => {
    const others = documents.filter(({ path }) => !PLAYED.includes(path))
    const missed = others.flatMap(({ path }) =>
      blocksOf(path)
        .filter((block) => !isOther(block))
        .map((block) => `${path}: ${block.split('\n')[0]}`),
    )
    expect(missed).toEqual([])
  })
})

describe('commands', () => {
  const scripts: Record<string, string> = manifest.scripts
  /** Each command in a document, inline or in a block. */
  const commands = documents.flatMap(({ path, text }) =>
    [...text.matchAll(/(?:`|^)(?:[A-Z_]+=\S+ )*((?:npm|node|npx) [^`\n]+)/gm)].map(([, command]) => ({
      path,
      command: command!,
    })),
  )

  test('default: a script of npm exists, and sets up what it runs on', () => {
    const named = commands.flatMap(({ path, command }) => {
      const [, name] = /^npm (?:run )?(start|stop|test\S*|(?<=run )\S+)/.exec(command) ?? []
      return name === undefined ? [] : [{ path, name }]
    })
    expect(named.length).toBeGreaterThan(20)
    const wrong = named.filter(
      ({ name }) => !(name in scripts) || !scripts[`pre${name}`]?.includes('scripts/setup.mjs'),
    )
    expect(wrong).toEqual([])
  })

  test('default: what is run by node alone runs on the Node of the machine', () => {
    const wrong = commands.filter(({ command }) => /^node (?!\S+\.mjs\b)(?!-e )(?!-v$)/.test(command))
    expect(wrong).toEqual([])
  })

  test('behavior: a program in TypeScript runs with the machine’s own Node in front', async () => {
    const PATH = process.env
      .PATH!.split(delimiter)
      .filter((folder) => !folder.includes('node_modules'))
      .join(delimiter)
    const env = { PATH, HOME: tmpdir() }
    const { stdout } = await runCommand('npm', ['run', '--silent', 'coinrack', '--', '--help'], {
      cwd: root,
      env,
    })
    expect(stdout).toContain('signed receipts')
  })
})
