import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { createClient } from '@coinrack/sdk/index.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { runProcess } from './support/command-line.ts'
import { startScriptedModel } from './support/scripted-model.ts'
import { root } from './support/sources.ts'

/*
 * The recipes of docs/recipes-agents.md as they stand there, each a program of its own: what a comment at its end says is what it prints. The model first makes
 * a mistake, sees it, and goes on in the same context.
 */

vi.setConfig({ testTimeout: 120_000 })

const folder = join(root, 'node_modules/.cache/coinrack/recipes')
let service: TestService
let url: string
beforeAll(async () => {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  service = await startTestService()
  url = await service.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})

const text = await readFile(join(root, 'docs/recipes-agents.md'), 'utf8')
const recipes = [...text.matchAll(/^## (.+)\n\n[^\n]*\n\n```ts\n([\s\S]*?)^```$/gm)].map(
  ([, title, code]) => ({
    title: title!,
    code: code!,
  }),
)

test('behavior: there are three', () => {
  expect(recipes).toHaveLength(3)
})

test.each(recipes)('default: $title', async ({ title, code }) => {
  const { token } = await service.customer(1_000_000n)
  const model = await startScriptedModel(
    [
      'import notthere',
      'sieve = [n for n in range(2, 100) if all(n % d for d in range(2, n))]\nprint(len(sieve))',
      'print(len(sieve) * 1)',
    ],
    (said) => {
      expect(said[0]).toContain('ModuleNotFoundError')
      const counts = said.slice(1).map((one) => JSON.parse(one).stdout.trim())
      return `There are ${counts[0] === counts[1] ? counts[0] : 'unknown'} primes below 100.`
    },
  )
  try {
    const file = join(folder, `${title.toLowerCase().replaceAll(' ', '-')}.js`)
    await writeFile(file, stripTypeScriptTypes(code))
    const {
      code: exitCode,
      stdout,
      stderr,
    } = await runProcess([file], {
      env: { COINRACK_URL: url, COINRACK_TOKEN: token, MODEL_URL: model.url },
      program: [process.execPath],
    })
    expect(exitCode, stderr).toBe(0)
    const shown = [...code.matchAll(/^\/\/ (.*)$/gm)].map(([, line]) => line)
    expect(stdout.trim().split('\n')).toEqual(shown)
    expect(model.asked).toHaveLength(4)
    expect((await createClient({ url, token }).listSandboxes()).items).toEqual([])
  } finally {
    model.close()
  }
})
