import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@coinrack/host/free-port.ts'
import { buildTemplate, createClient, Sandbox } from '@coinrack/sdk/index.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from './support/sources.ts'

/*
 * Runs the examples of the guides as they stand there: what a comment at the end says is what they print.
 */

let service: TestService
let origin: string
beforeAll(async () => {
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  service = await startTestService({ env: { COINRACK_PUBLIC_URL: origin } })
  await service.app.listen({ host: '127.0.0.1', port })
})
afterAll(() => service.close())

const guide = ['docs/guide-sandboxes.md', 'docs/guide-templates.md']
  .map((path) => readFileSync(join(root, path), 'utf8'))
  .join('\n')
const examples: { title: string; code: string }[] = []
let title = ''
for (const [, heading, code] of guide.matchAll(/^## (.*)$|^```ts\n([\s\S]*?)^```$/gm)) {
  if (heading === undefined) examples.push({ title, code: code! })
  else title = heading
}
const runnable = examples.filter(({ code }) => /Sandbox\.create|createClient\(/.test(code))

test('behavior: there is an example of everything', () => {
  expect(runnable.length).toBeGreaterThanOrEqual(10)
})

test.each(runnable.map(({ title, code }, index) => [`${index + 1}, ${title}`, code]))(
  'default: example %s',
  async (_title, code) => {
    const { token } = await service.customer(1_000_000n)
    const printed: string[] = []
    const lines = code.trim().split('\n')
    const expected = lines.filter((line) => line.startsWith('// ')).map((line) => line.slice(3).trim())
    const show = (value: unknown) => (typeof value === 'bigint' ? `${value}n` : String(value))
    const console = {
      log: (...values: unknown[]) => printed.push(...values.map(show).join(' ').split('\n')),
    }
    const AsyncFunction = (async () => {}).constructor as new (
      ...parts: string[]
    ) => (...values: unknown[]) => Promise<void>
    const names = ['Sandbox', 'createClient', 'buildTemplate', 'service', 'console']
    const run = new AsyncFunction(...names, stripTypeScriptTypes(code))
    const running = run(Sandbox, createClient, buildTemplate, { url: origin, token }, console)
    let isOver = false
    const over = () => {
      isOver = true
    }
    running.then(over, over)
    for (; !isOver; await sleep(100)) await service.buildTemplates()
    await running
    expect(printed.map((line) => line.trim())).toEqual(expected)
    // Nothing is left of it.
    expect((await service.ask('GET', '/sandboxes', { token })).body).toEqual([])
  },
)
