import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { createReceiptKey } from '@coinrack/server/platform/receipt-key.ts'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { buildCli } from '../scripts/build-cli.ts'
import { runProcess, type ServiceForCommands, startServiceForCommands } from './support/command-line.ts'
import { followGuide } from './support/follow-guide.ts'
import { newSshKey } from './support/new-ssh-key.ts'
import { otherNodes } from './support/nodes.ts'

/*
 * The command line as customers have it: packed, installed into an empty folder, and run there by the Node that this machine came with.
 */

vi.setConfig({ testTimeout: 120_000 })

let world: ServiceForCommands
let url: string
let folder: string
let tarball: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-customer-'))
  const npm = (...args: string[]) =>
    runCommand('npm', [...args, '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'], {
      cwd: folder,
      timeoutMs: 240_000,
    })
  const built = join(folder, 'built')
  await buildCli(built)
  const { stdout } = await npm('pack', built, '--json')
  tarball = join(folder, Object.values<{ filename: string }>(JSON.parse(stdout))[0]!.filename)
  await rm(built, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"private":true}')
  await npm('install', tarball)
  world = await startServiceForCommands()
  url = world.url
}, 300_000)
afterAll(async () => {
  await world?.stop()
  await rm(folder, { recursive: true, force: true })
})

test('default: it depends on a handful of packages, none of them ours, and has no tests and no demo', async () => {
  const manifest = JSON.parse(await readFile(join(folder, 'node_modules/@coinrack/cli/package.json'), 'utf8'))
  expect(Object.keys(manifest.dependencies)).toEqual(['commander', 'uqr', 'ws', 'zod'])
  const files = (await runCommand('tar', ['tzf', tarball])).stdout.trim().split('\n')
  expect(files).toEqual(
    expect.arrayContaining(['package/LICENSE', 'package/README.md', 'package/coinrack.js']),
  )
  expect(files.filter((path) => /test|demo|\.ts$/.test(path))).toEqual([])
  const { messages } = await publint({
    pack: { tarball: new Uint8Array(await readFile(tarball)).buffer },
    strict: true,
  })
  expect(messages).toEqual([])
})

test('default: this machine has an older Node to try it with', () => {
  expect(otherNodes().length).toBeGreaterThan(0)
})

describe.each([['our own', process.execPath], ...otherNodes()])('Node %s', (_version, node) => {
  /** By the name that it has in a shell, whose first Node is this one. */
  const coinrack = (words: string[], env: Record<string, string> = {}, input = '') =>
    runProcess(words, {
      env: { HOME: folder, PATH: `${dirname(node)}${delimiter}${process.env.PATH}`, ...env },
      input,
      program: [join(folder, 'node_modules/.bin/coinrack')],
    })

  test('default: the lines of its page are commands that it has', async () => {
    const page = await readFile(join(folder, 'node_modules/@coinrack/cli/README.md'), 'utf8')
    const [, block] = /^```\n([\s\S]*?)^```$/m.exec(page)!
    const [install, ...lines] = block!.trim().split('\n')
    expect(install).toBe('npm install --global @coinrack/cli')
    const { token } = await world.service.customer()
    for (const line of lines) {
      const words = line.replace('https://vps.example.net', url).split(' ').slice(1)
      // A person answers questions there; a test has a token.
      const ran = await coinrack(words[0] === 'login' ? [...words, '--with-token'] : words, {}, token)
      expect([line, ran.code, ran.stderr]).toEqual([line, 0, ''])
    }
    expect(lines).toHaveLength(2)
  })

  test('default: it says what it is, logs in, and runs a script in a sandbox', async () => {
    expect((await coinrack(['--version'])).stdout).toBe('0.1.0\n')
    const { token } = await world.service.customer(1_000_000n)
    expect((await coinrack(['login', '--url', url, '--with-token'], {}, token)).stderr).toBe('')
    expect((await coinrack(['balance'])).stdout).toMatch(/^balance +1\.00 USD$/m)
    const ran = await coinrack(['run', '--language', 'bash', '-'], {}, 'echo from a sandbox; exit 7')
    expect(ran).toEqual({ code: 7, stdout: 'from a sandbox\n', stderr: '' })
    expect((await coinrack(['logout'])).code).toBe(0)
  })

  test('behavior: it verifies a receipt without a service', async () => {
    const file = join(folder, 'receipt.json')
    await writeFile(file, JSON.stringify(signedReceipt()))
    expect((await coinrack(['receipt', 'verify', file])).stdout).toContain('The receipt holds: 10.00 USD')
  })
})

test('default: the guide is followed line by line from an empty folder, and answers what it shows', async () => {
  const home = join(folder, 'home')
  await mkdir(join(home, '.ssh'), { recursive: true })
  await writeFile(join(home, '.ssh/id_ed25519.pub'), newSshKey())
  // The machines are fakes: `ssh` is a program that says what they would.
  await mkdir(join(home, 'bin'))
  await writeFile(join(home, 'bin/ssh'), '#!/bin/sh\necho Linux\n', { mode: 0o755 })
  const empty = await mkdtemp(join(folder, 'empty-'))
  const followed = await followGuide('docs/guide-command-line.md', {
    folder: empty,
    env: {
      HOME: home,
      PATH: [join(home, 'bin'), join(folder, 'node_modules/.bin'), process.env.PATH].join(delimiter),
    },
    replace: (line) =>
      line
        .replaceAll('http://127.0.0.1:8080', url)
        .replaceAll('me@example.com', 'reader@my-domain.net')
        .replace(
          '--code 123456',
          () => `--code ${/login code is (\S+)/.exec(world.service.mails.at(-1)!.text)![1]}`,
        ),
  })
  expect(followed).toBeGreaterThan(20)
}, 300_000)

function signedReceipt() {
  const at = '2026-02-01T12:00:00.000Z'
  return createReceiptKey('a secret of the operator that nobody guesses').sign({
    ...{ version: 'coinrack-receipt-1', issuer: 'https://vps.example.net', issued_at: at },
    ...{ invoice_id: 'inv_01kabcdefghjkmnpqrstvwxyz0', kind: 'topup' },
    ...{ account_id: 'acc_01kabcdefghjkmnpqrstvwxyz0', email: 'ada@rackmail.net', name: null },
    ...{ amount: '10.00', currency: 'USD', paid_at: at, charges: [], payments: [] },
  })
}
