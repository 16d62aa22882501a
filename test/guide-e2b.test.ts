import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@coinrack/host/free-port.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from './support/sources.ts'

/*
 * Runs the guide for users of E2B as it stands there: the shell lines first, and then each program in a process that knows
 * nothing but the variables which those lines set. What a comment at its end says is what it prints.
 */

let service: TestService
let folder: string
let building: Promise<void>
let stopped = false
let env: Record<string, string>
const guide = await readFile(join(root, 'docs/guide-e2b.md'), 'utf8')
const blocks = (language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, code]) => code!)

beforeAll(async () => {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  service = await startTestService({ env: { COINRACK_PUBLIC_URL: origin } })
  await service.app.listen({ host: '127.0.0.1', port })
  building = (async () => {
    for (; !stopped; await sleep(100)) await service.buildTemplates()
  })()
  const { token } = await service.customer(1_000_000n)
  folder = await mkdtemp(join(tmpdir(), 'coinrack-guide-'))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const lines = blocks('sh').join('\n').replaceAll('http://127.0.0.1:8080', origin)
  const shell = await runCommand('bash', ['-euo', 'pipefail', '-c', `${lines}\nenv`], {
    env: { PATH: process.env.PATH!, token },
  })
  const set = shell.stdout.split('\n').filter((line) => line.startsWith('E2B_'))
  env = Object.fromEntries(set.map((line) => line.split(/=(.*)/s).slice(0, 2)))
})
afterAll(async () => {
  stopped = true
  await building
  await service.close()
  await rm(folder, { recursive: true, force: true })
})

test('default: the shell lines set what the packages read', () => {
  expect(env.E2B_API_KEY).toMatch(/^e2b_[0-9a-f]{40}$/)
  expect(Object.keys(env).sort()).toEqual(['E2B_API_KEY', 'E2B_API_URL', 'E2B_SANDBOX_URL'])
})

test.each(blocks('ts').map((code, index) => [index + 1, code] as const))(
  'default: program %i prints what it says',
  async (number, code) => {
    const file = join(folder, `program-${number}.ts`)
    await writeFile(file, code)
    const child = spawn(process.execPath, ['--no-warnings', file], {
      env: { PATH: process.env.PATH!, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [stdout, stderr] = await Promise.all(
      [child.stdout, child.stderr].map(async (stream) => (await Array.fromAsync(stream)).join('')),
    )
    const expected = code
      .split('\n')
      .filter((line) => line.startsWith('// '))
      .map((line) => line.slice(3))
    expect(stderr).toBe('')
    expect(stdout!.trim().split('\n')).toEqual(expected)
  },
  60_000,
)
