import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildPython, PYTHON } from '../scripts/build-python.ts'
import { readGuide, startGuideService } from './support/guide-service.ts'

/*
 * The guide for Python, followed from an empty folder with nothing else: what it says is printed.
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

test('default: its blocks print what it shows', async () => {
  const { program, printed, blocks } = readGuide('docs/guide-python.md', 'python', '#')
  expect(blocks).toBeGreaterThanOrEqual(6)
  await writeFile(join(folder, 'guide.py'), service.playable(program, 'python-guide@my-domain.net'))
  const { stdout } = await runCommand(join(folder, 'environment/bin/python'), ['guide.py'], {
    cwd: folder,
    timeoutMs: 120_000,
  })
  expect(stdout.trim().split('\n')).toEqual(printed)
}, 120_000)
