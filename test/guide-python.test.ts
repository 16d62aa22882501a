import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildPython, PYTHON } from '../scripts/build-python.ts'
import { readGuide, startGuideService } from './support/guide-service.ts'
import { newSshKey } from './support/new-ssh-key.ts'

/*
 * The guide for Python, and the page of the package, followed from an empty folder with nothing else: what the guide says is printed.
 */

let folder: string
let service: Awaited<ReturnType<typeof startGuideService>>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-guide-python-'))
  const wheel = await buildPython(join(folder, 'built'))
  await runCommand(PYTHON, ['-m', 'venv', '--system-site-packages', join(folder, 'environment')])
  const pip = join(folder, 'environment/bin/pip')
  await runCommand(pip, ['install', '--quiet', '--no-index', '--disable-pip-version-check', wheel])
  service = await startGuideService()
})
afterAll(async () => {
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})

async function run(name: string): Promise<string> {
  const { stdout } = await runCommand(join(folder, 'environment/bin/python'), [name], {
    cwd: folder,
    timeoutMs: 120_000,
  })
  return stdout.trim()
}

test('default: its blocks print what it shows', async () => {
  const { program, printed, blocks } = readGuide('docs/guide-python.md', 'python', '#')
  expect(blocks).toBeGreaterThanOrEqual(6)
  await writeFile(join(folder, 'guide.py'), service.playable(program, 'python-guide@my-domain.net'))
  expect((await run('guide.py')).split('\n')).toEqual(printed)
}, 120_000)

/** The reader pays where the page says so. */
const PAY = `import urllib.parse, urllib.request
    form = urllib.parse.urlencode({"network": "base", "token": "USDC"}).encode()
    urllib.request.urlopen(urllib.request.Request(f"{topup.checkout_url}/demo-pay", form, {"accept": "application/json"}))`

test('default: the page of the package is a program', async () => {
  const { program, blocks } = readGuide('packages/python/README.md', 'python', '#')
  expect(blocks).toBe(4)
  const played = service
    .playable(program, 'page-of-python@my-domain.net')
    .replace(/# Pay one of .*/, PAY)
    .replace('ssh-ed25519 AAAA...', newSshKey())
  await writeFile(join(folder, 'page.py'), played)
  const printed = await run('page.py')
  expect(printed).toMatch(
    /^42\n42\n[\s\S]*active\n[\s\S]*\nbuilding\nTrue\n420\nchanged: one\.csv\n1\n\['bash'/,
  )
}, 120_000)
