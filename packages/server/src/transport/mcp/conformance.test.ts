import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '@coinrack/host/free-port.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'
import { buyerOf } from '../../sandboxes/life/testing.ts'
import { exampleTools, noSuchTaskByName, notApplicable } from './testing-conformance.ts'

/*
 * The official conformance suite, unmodified, with every scenario that it has for servers. Many of them want the tools of the
 * suite's own example server; `notApplicable` says of each check that fails here why it has to.
 */

const suite = createRequire(import.meta.url)
  .resolve('@modelcontextprotocol/conformance/package.json')
  .replace(/package\.json$/, 'dist/index.js')

interface Check {
  scenario: string
  id: string
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
}

let service: TestService
let checks: Check[]
/** The checks of the scenarios of tasks, with a command in a sandbox under the name of the suite's tool. */
let ofTasks: Check[]
beforeAll(async () => {
  const port = await freePort()
  service = await startTestService({
    env: { COINRACK_PUBLIC_URL: `http://127.0.0.1:${port}`, COINRACK_RATE_DEFAULT: '100000/min' },
  })
  await service.app.listen({ host: '127.0.0.1', port })
  const url = `http://127.0.0.1:${port}/mcp`
  checks = await runSuite(url)
  const buyer = await buyerOf(service)
  const front = await exampleTools(url, buyer.token, await buyer.sandbox({ timeout: 3_600 }))
  try {
    const scenarios = new Set(
      checks.flatMap(({ scenario: name }) => (name.startsWith('tasks-') ? [name] : [])),
    )
    ofTasks = (
      await Promise.all([...scenarios].map((name) => runSuite(front.url, '--scenario', name)))
    ).flat()
  } finally {
    await front.close()
  }
})
afterAll(() => service.close())

async function runSuite(url: string, ...which: string[]): Promise<Check[]> {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-conformance-'))
  // It ends with 1 where a check failed, whichever.
  // On a busy machine a scenario takes longer than its 30 s.
  const words = [
    'server',
    '--url',
    url,
    '-o',
    folder,
    '--timeout',
    '120000',
    ...(which.length > 0 ? which : ['--suite', 'all']),
  ]
  await promisify(execFile)(process.execPath, [suite, ...words], { maxBuffer: 64 * 1024 * 1024 }).catch(
    ({ code }) => expect(code).toBe(1),
  )
  const scenarios = await readdir(folder)
  const found = await Promise.all(
    scenarios.map(async (name): Promise<Check[]> => {
      const all = JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8'))
      return all.map((check: Check) => ({
        ...check,
        scenario: name.replace(/^server-|-\d{4}-\d\d-\d\dT.*$/g, ''),
      }))
    }),
  )
  await rm(folder, { recursive: true, force: true })
  return found.flat()
}

/** The scenarios that need nothing but a server: all their checks pass. */
const applicable = [
  'server-initialize',
  'ping',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-error',
  'resources-list',
  'dns-rebinding-protection',
  'http-header-validation',
  'input-required-result-unsupported-methods',
  'input-required-result-ignore-extra-params',
]

describe('the official conformance suite', () => {
  test.each(applicable)('default: %s passes whole', (scenario) => {
    const all = checks.filter((check) => check.scenario === scenario && check.status !== 'INFO')
    expect(all.length).toBeGreaterThan(0)
    expect(all.filter(({ status }) => status !== 'SUCCESS')).toEqual([])
  })

  test('default: every other scenario passes but for the checks that cannot apply, each for a reason', () => {
    const failed = checks.filter(({ status }) => status === 'FAILURE')
    expect(failed.map(({ scenario, id }) => `${scenario}: ${id}`).sort()).toEqual(
      Object.values(notApplicable).flat().sort(),
    )
  })

  test('default: its scenarios of tasks pass with a command that takes as long as they say', () => {
    const failed = ofTasks.filter(({ status }) => status === 'FAILURE')
    expect(failed.map(({ scenario, id }) => `${scenario}: ${id}`).sort()).toEqual(
      Object.values(noSuchTaskByName).flat().sort(),
    )
    expect(ofTasks.filter(({ status }) => status === 'SUCCESS').length).toBeGreaterThanOrEqual(30)
  })

  test('behavior: most of what is checked passes, so that the suite did run', () => {
    expect(new Set(checks.map(({ scenario }) => scenario)).size).toBeGreaterThanOrEqual(64)
    expect(checks.filter(({ status }) => status === 'SUCCESS').length).toBeGreaterThanOrEqual(120)
  })
})
