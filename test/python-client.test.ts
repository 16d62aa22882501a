import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@coinrack/host/free-port.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPython, PYTHON } from '../scripts/build-python.ts'
import { keepReconciling } from './support/keep-reconciling.ts'
import { root } from './support/sources.ts'

/*
 * The Python client as customers have it: a wheel, installed into an empty environment of the machine's own Python, and used there against a
 * service, once by code that blocks and once by code that awaits.
 */

let folder: string
let wheel: string
let service: TestService
let control: Server
let environment: Record<string, string>
let endReconciling: () => Promise<void>

const python = (...args: string[]) =>
  runCommand(join(folder, 'environment/bin/python'), args, {
    cwd: join(folder, 'tests'),
    env: { ...environment, PATH: '/usr/bin:/bin' },
    timeoutMs: 120_000,
  })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-python-customer-'))
  wheel = await buildPython(join(folder, 'built'))
  // With the packages of Debian, of which it needs httpx.
  await runCommand(PYTHON, ['-m', 'venv', '--system-site-packages', join(folder, 'environment')])
  await cp(join(root, 'packages/python/tests'), join(folder, 'tests'), { recursive: true })
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  service = await startTestService({ env: { COINRACK_PUBLIC_URL: url } })
  await service.app.listen({ host: '127.0.0.1', port })
  endReconciling = keepReconciling(service)
  control = createServer(async (request, response) => {
    const { searchParams } = new URL(request.url!, 'http://localhost')
    const balance = BigInt(Number(searchParams.get('balance')) * 1_000_000)
    response.end(JSON.stringify(await service.customer(balance)))
  })
  await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve))
  environment = {
    COINRACK_TEST_URL: url,
    COINRACK_TEST_CONTROL: `http://127.0.0.1:${(control.address() as AddressInfo).port}`,
  }
  await python('-m', 'pip', 'install', '--quiet', '--no-index', '--disable-pip-version-check', wheel)
})
afterAll(async () => {
  control?.close()
  await endReconciling?.()
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})

test.each(['test_async', 'test_sync', 'test_repetition_async', 'test_repetition_sync'])(
  'default: %s',
  async (name) => {
    const { stderr } = await python('-m', 'unittest', '--verbose', name)
    expect(stderr).toMatch(/^Ran [1-9]\d* tests in .*\n\nOK\n$/m)
  },
  120_000,
)

describe('the package', () => {
  test('default: it has its types, licence and page, and depends on httpx alone', async () => {
    const { stdout: listed } = await runCommand(PYTHON, ['-m', 'zipfile', '--list', wheel])
    const files = listed.split('\n').map((line) => line.split(/\s/)[0]!)
    expect(files).toEqual(expect.arrayContaining(['coinrack/__init__.py', 'coinrack/py.typed']))
    expect(files.filter((path) => /test|pycache/.test(path))).toEqual([])
    expect(files.filter((path) => path.endsWith('/LICENSE'))).toHaveLength(1)
    const { stdout } = await python('-m', 'pip', 'show', '--verbose', 'coinrack')
    expect(stdout).toMatch(/^Requires: httpx$/m)
    expect(stdout).toMatch(/^License: MIT$/m)
  })

  test('default: package and tests are typed, strictly', async () => {
    const { stdout } = await runCommand(
      PYTHON,
      [
        '-m',
        'mypy',
        '--strict',
        '--python-version',
        '3.10',
        'src',
        'tests',
        '--cache-dir',
        join(folder, 'cache'),
      ],
      { cwd: join(root, 'packages/python'), timeoutMs: 240_000 },
    )
    expect(stdout).toMatch(/^Success: no issues found in \d+ source files$/m)
  }, 240_000)

  test('behavior: a program of its types is checked where it is installed', async () => {
    const program = join(folder, 'program.py')
    await writeFile(
      program,
      `from decimal import Decimal
from coinrack import Client, CoinrackError, Sandbox

coinrack = Client("https://vps.example.net")
balance: Decimal = coinrack.get_balance().balance
names: list[str] = [plan.slug for plan in coinrack.list_plans()]
coinrack.order_house()
coinrack.order_vps(product=1, os_id=1)
with Sandbox.create(coinrack, tariff="huge") as sandbox:
    sandbox.run_code("1").results[0].nothing
`,
    )
    const { stdout } = await runCommand('sh', [
      ...['-c', '"$0" "$@" || true', PYTHON, '-m', 'mypy', '--strict', '--cache-dir', join(folder, 'cache')],
      ...['--python-executable', join(folder, 'environment/bin/python'), program],
    ])
    const wrong = [...stdout.matchAll(/program\.py:(\d+): error/g)].map(([, line]) => Number(line))
    expect(wrong).toEqual([7, 8, 9, 10])
  }, 240_000)

  test('behavior: the contract and the package name the same version', async () => {
    const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
    const project = await readFile(join(root, 'packages/python/pyproject.toml'), 'utf8')
    expect(project).toContain(`version = "${manifest.version}"`)
  })
})
