import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@coinrack/sdk/index.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { buildAction } from '../scripts/build-action.ts'
import { type Ended, runProcess } from './support/command-line.ts'
import { root } from './support/sources.ts'

/*
 * The GitHub Action as a runner starts it: its built files, run by Node with inputs in the environment, against the service.
 */

vi.setConfig({ testTimeout: 120_000 })

let service: TestService
let url: string
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-action-'))
  await buildAction(join(folder, 'dist'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  service = await startTestService()
  url = await service.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})

/** The inputs of action.yml, with their defaults. */
async function declared(): Promise<Record<string, string>> {
  const text = await readFile(join(root, 'packages/github-action/action.yml'), 'utf8')
  const inputs = text.slice(text.indexOf('inputs:'), text.indexOf('outputs:'))
  return Object.fromEntries(
    [
      ...inputs.matchAll(
        /^ {2}(\w+):\n {4}description: .*\n {4}(?:default: ["']?([^"'\n]*)["']?|required: true)$/gm,
      ),
    ].map(([, name, value = '']) => [name!, value]),
  )
}

let jobs = 0
/** One step of a job, as the runner does it. */
async function step(inputs: Record<string, string>, workspace?: string) {
  const job = join(folder, `job-${jobs++}`)
  await mkdir(join(job, 'workspace'), { recursive: true })
  for (const name of ['output', 'state']) await writeFile(join(job, name), '')
  const given = { ...(await declared()), ...inputs }
  const env: Record<string, string> = {
    ...Object.fromEntries(
      Object.entries(given).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]),
    ),
    GITHUB_WORKSPACE: workspace ?? join(job, 'workspace'),
    GITHUB_OUTPUT: join(job, 'output'),
    GITHUB_STATE: join(job, 'state'),
    SECRET_OF_THE_JOB: 'not for the sandbox',
  }
  const run = (name: string, more: Record<string, string> = {}): Promise<Ended> =>
    runProcess([], { env: { ...env, ...more }, program: [process.execPath, join(folder, `dist/${name}.js`)] })
  const read = async (name: string) =>
    Object.fromEntries(
      (await readFile(join(job, name), 'utf8'))
        .trim()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    ) as Record<string, string>
  const main = await run('main')
  return {
    ...main,
    workspace: env.GITHUB_WORKSPACE!,
    outputs: await read('output'),
    post: async () => run('post', { STATE_sandbox: (await read('state')).sandbox ?? '' }),
  }
}

test('default: the step of its page runs as it stands there', async () => {
  const { token } = await service.customer(1_000_000n)
  const page = await readFile(join(root, 'packages/github-action/README.md'), 'utf8')
  const [, yaml] = /^```yaml\n([\s\S]*?)^```$/m.exec(page)!
  const given = /^ {8}with:\n((?: {10}.*\n)+)/m.exec(yaml!)![1]!.replace(/^ {10}/gm, '')
  const inputs = Object.fromEntries(
    [...given.matchAll(/^(\w+): (?:\|\n((?: {2}.*\n)+)|(.*)\n)/gm)].map(([, name, lines, line]) => [
      name!,
      lines?.replace(/^ {2}/gm, '') ?? line!,
    ]),
  )
  const known = Object.keys(await declared())
  expect(Object.keys(inputs).filter((name) => !known.includes(name))).toEqual([])
  expect(inputs.url).toBe('https://vps.example.net')
  expect(inputs.token).toMatch(/^\$\{\{ secrets\.\w+ \}\}$/)
  const workspace = join(folder, 'workspace-of-the-page')
  await mkdir(workspace)
  const scripts = { test: 'mkdir -p coverage && echo 100 > coverage/percent' }
  const project = { name: 'a', version: '1.0.0' }
  await writeFile(join(workspace, 'package.json'), JSON.stringify({ ...project, scripts }))
  const lock = { ...project, lockfileVersion: 3, packages: { '': project } }
  await writeFile(join(workspace, 'package-lock.json'), JSON.stringify(lock))
  const ran = await step({ ...inputs, url, token }, workspace)
  expect(ran.code, ran.stdout + ran.stderr).toBe(0)
  expect(await readFile(join(workspace, 'coverage/percent'), 'utf8')).toBe('100\n')
  await ran.post()
})

test('default: the workspace is in the sandbox, what the commands made comes back, and nothing is left', async () => {
  const { token } = await service.customer(1_000_000n)
  const workspace = join(folder, 'workspace')
  await mkdir(join(workspace, '.git'), { recursive: true })
  await mkdir(join(workspace, 'src'))
  await writeFile(join(workspace, 'src/a.txt'), 'from the workspace\n')
  const ran = await step(
    {
      url,
      token,
      run: 'cat src/a.txt; echo "$NAME $CI"; printenv SECRET_OF_THE_JOB || echo none\nls -d .git || mkdir made; echo made > made/b.txt\necho ::set-output::x',
      env: 'NAME=Ada\n',
      download: 'made',
    },
    workspace,
  )
  expect(ran.code, ran.stdout + ran.stderr).toBe(0)
  expect(ran.stdout).toContain(`::add-mask::${token}\n`)
  expect(ran.stdout).toContain('from the workspace\nAda true\nnone\n')
  // Between these two lines the runner obeys nothing.
  expect(ran.stdout).toMatch(/::stop-commands::([0-9a-f]{32})\n[\s\S]*::set-output::x\n[\s\S]*\n::\1::\n/)
  expect(await readFile(join(workspace, 'made/b.txt'), 'utf8')).toBe('made\n')
  expect(ran.outputs).toMatchObject({
    'exit-code': '0',
    'sandbox-id': expect.stringMatching(/^sbx/),
    cost: expect.stringMatching(/^\d+\.\d+$/),
  })

  const client = createClient({ url, token })
  expect((await client.listSandboxes()).items).toHaveLength(1)
  expect((await ran.post()).code).toBe(0)
  expect((await client.listSandboxes()).items).toEqual([])
})

test('behavior: the first command that fails ends the step, as does the end of its time', async () => {
  const { token } = await service.customer(1_000_000n)
  const failed = await step({ url, token, run: 'false | true\necho not reached' })
  expect(failed.code).toBe(1)
  expect(failed.stdout).not.toContain('not reached')
  expect(failed.stdout).toContain('::error::The commands in the sandbox ended with 1')
  await failed.post()
  const late = await step({ url, token, run: 'sleep 30', timeout: '1' })
  expect(late).toMatchObject({ code: 124, outputs: { 'exit-code': '124' } })
  await late.post()
})

test('error: what a sandbox puts into the archive stays in the workspace', async () => {
  const { token } = await service.customer(1_000_000n)
  const outside = join(folder, 'outside')
  await mkdir(outside)
  const ran = await step({
    url,
    token,
    run: `ln -s ${outside} link; mkdir real; echo x > real/x; tar -cf all.tar --transform 's,^real,link,' link real`,
    download: 'link\nall.tar',
  })
  expect(ran.code, ran.stdout).toBe(0)
  await expect(readFile(join(outside, 'x'))).rejects.toThrow('ENOENT')
  await ran.post()
})

test('error: without money, without a token, with a wrong one: the reason is shown', async () => {
  const { token } = await service.customer()
  expect(await step({ url, token, run: 'true' })).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/::error::.*balance/),
  })
  expect(await step({ url, run: 'true' })).toMatchObject({
    code: 1,
    stdout: '::error::The input token is required\n',
  })
  const wrong = await step({ url, token: 'crk_wrong', run: 'true' })
  expect(wrong).toMatchObject({ code: 1, stdout: expect.stringContaining('::error::') })
  // The end of such a job has nothing to end.
  expect((await wrong.post()).code).toBe(0)
})
